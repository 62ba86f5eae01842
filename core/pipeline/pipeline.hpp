#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/archive/preview.hpp"
#include "core/backend/backend.hpp"
#include "core/backend/steps.hpp"
#include "core/choices/trials.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// The values of a frame and, optionally, their owner; may be dropped when no longer needed.
class FrameValues {
 public:
  FrameValues() = default;
  /// Not owned.
  FrameValues(Bytes bytes) : bytes_(bytes) {}
  template <class Owner>
  FrameValues(Bytes bytes, Owner owner)
      : bytes_(bytes), owner_(std::make_shared<Owner>(std::move(owner))) {}
  FrameValues(FrameValues&&) = default;
  FrameValues& operator=(FrameValues&&) = default;

  Bytes bytes() const { return bytes_; }
  bool is_owner() const { return owner_ != nullptr; }

 private:
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
};

/// A frame in a backend.
struct LoadedFrame {
  FrameShape shape;    ///< of work values
  FrameValues values;  ///< stored values; may be dropped
  PredictorParams draft;
  std::unique_ptr<EncodeSession> session;
  /// Transformed values, and the scan of the original ones.
  struct Transform {
    FrameTransform transform;
    FieldScan own;
    double sampled;  ///< largest sampled magnitude
  };
  std::optional<Transform> transform = {};
  /// Local absolute bounds.
  std::optional<AskedBounds> asked = {};
  struct Bounds {
    FrameBounds bounds;
    double typical = 0;                        ///< see BoundPlan
    std::shared_ptr<const LocalBounds> local;  ///< null if all points have the same
    FieldScan own;                             ///< before points were kept
  };
  std::optional<Bounds> bounds = {};
  FillValues fills = {};
  DType stored = DType::f32;

  /// Larger frames are kept.
  ByteCount most_bytes = 0;

  FrameShape stored_shape() const { return {stored, shape.dims}; }
  /// See EncodeSession::scan.
  const FieldScan& scan() const;
};

struct FrameReport {
  FrameHeader header;
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// In host memory.
struct CompressedFrame : FrameReport {
  std::vector<std::byte> bytes;  ///< header and payload
};

/// Shares the first frame's choice with the others. Functions may be empty.
struct FrameAdvice {
  std::function<const ChosenMethod*()> first;  ///< null if nothing was chosen
  std::function<void(const ChosenMethod&)> tell;
};

/// Returns memory of the host or the backend.
using Allocate = std::function<MutableBytes(ByteCount)>;

/// Where a frame goes, and what it shares with the others of its field.
struct FrameDestination {
  Allocate allocate;  ///< of memory for the header, then the payload
  std::uint64_t index = 0;
  FrameAdvice advice = {};
};

/// `shape`, `values` and `fills` are of the stored type. `known` is the LoadedFrame::scan() of an
/// earlier load.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       FrameValues values, const FillValues& fills, StepTimes& times,
                       const std::optional<FieldScan>& known = {});

/// Compresses a loaded frame. Errors of values that are not missing stay within `asked`, and within
/// LoadedFrame::asked (predictor `multilevel`); both refer to stored values. A frame of one value
/// stores only that and its mask. Bounds relative to values use a transform. Frames that cannot be
/// coded (bound 0, range beyond the dtype), or not smaller, are packed losslessly or stored.
FrameReport compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                           const ValueBound& asked, const FrameDestination& to, StepTimes& times);

/// The only frame of its field, in host memory.
CompressedFrame compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                               const ValueBound& bound, StepTimes& times);

struct FrameBoundsByPlace {
  double largest = 0;
  std::optional<LocalBounds> local = {};  ///< smaller ones

  PointBounds of_points(const Selection& points) const {
    return {largest, local ? &*local : nullptr, points};
  }
};

/// From a payload in host or backend memory, at least its first level. nullopt if the field's bound
/// applies. Throws ArchiveError.
std::optional<FrameBoundsByPlace> bounds_of_frame(Backend& backend, const FrameShape& shape,
                                                  const FrameHeader& header, Bytes payload);

/// A frame's payload, in host or backend memory, and a copy of its first bytes on the host, as far
/// as there is one.
struct FramePayload {
  Bytes bytes;
  Bytes begin_on_host;

  FramePayload(Bytes all, Bytes begin = {}) : bytes(all), begin_on_host(begin) {}
};

/// Memory may be the host's or the backend's. Throws ArchiveError.
void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePayload& payload, MutableBytes out, StepTimes& times);

/// `frame` starts with the header. Memory may be the host's or the backend's. Throws ArchiveError.
void decompress_frame(Backend& backend, const FrameShape& shape, Bytes frame, MutableBytes out,
                      StepTimes& times);

/// Needs the first `preview.levels` levels of `payload`.
void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePreview& preview, const FramePayload& payload, MutableBytes out,
                      StepTimes& times);

}  // namespace cuszi
