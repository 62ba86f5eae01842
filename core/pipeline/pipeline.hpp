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

/// The values of a frame, and what keeps them in memory if they go with the frame: whoever holds
/// this may drop it when they are no longer needed.
class FrameValues {
 public:
  FrameValues() = default;
  /// Values that others keep.
  FrameValues(Bytes bytes) : bytes_(bytes) {}
  /// Values that `owner` keeps.
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

/// A frame that a backend has in work, until it is compressed or goes out of scope.
struct LoadedFrame {
  FrameShape shape;
  FrameValues values;
  PredictorParams draft;
  std::unique_ptr<EncodeSession> session;
  /// What the session's values are instead of the frame's own, and what was scanned of those.
  struct Transform {
    FrameTransform transform;
    FieldScan own;
    double sampled;  ///< largest magnitude in a sample of the values
  };
  std::optional<Transform> transform = {};
  /// Absolute bounds of its points, if some have others than the field's.
  std::optional<AskedBounds> asked = {};
  /// How it is coded under those.
  struct Bounds {
    FrameBounds bounds;
    double typical = 0;                        ///< see BoundPlan
    std::shared_ptr<const LocalBounds> local;  ///< none if all points have the same
    FieldScan own;                             ///< before points were kept
  };
  std::optional<Bounds> bounds = {};

  /// See EncodeSession::scan.
  const FieldScan& scan() const;
};

/// What there is to tell of a frame that has been compressed.
struct FrameReport {
  FrameHeader header;
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// A frame as it stands in an archive, in host memory.
struct CompressedFrame : FrameReport {
  std::vector<std::byte> bytes;  ///< header and payload
};

/// How a frame learns what was chosen for the first one of its field, and tells what was chosen for
/// it. Both may be missing.
struct FrameAdvice {
  std::function<const ChosenMethod*()> first;  ///< nothing if there is no such choice
  std::function<void(const ChosenMethod&)> tell;
};

/// Returns memory, the host's or the backend's, for a frame of the given number of bytes.
using Allocate = std::function<MutableBytes(ByteCount)>;

/// Brings a frame to its backend. `known` is what LoadedFrame::scan() has told of it before, if it
/// was loaded before.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       FrameValues values, const FillValues& fills, StepTimes& times,
                       const std::optional<FieldScan>& known = {});

/// Compresses a frame that `backend` has loaded: passes of predict-quantise and entropy coding. No
/// restored value that is not missing will differ from the original by more than `bound`. A frame
/// of one value is no more than that value and its mask. A bound that goes with each value is held
/// by a transform. Points keep to the bounds in
/// LoadedFrame::asked, too, which go with the predictor `multilevel`. Where coding cannot be done
/// (bound 0, range beyond the dtype) or does not pay, the values are packed losslessly or stored.
CompressedFrame compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                               std::uint64_t index, const ValueBound& bound, StepTimes& times);

/// Compresses a frame, as above, into memory from `allocate`, header first. `advice` shares choices
/// between the frames of a field.
FrameReport compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                           std::uint64_t index, const ValueBound& bound, const Allocate& allocate,
                           StepTimes& times, const FrameAdvice& advice = {});

/// What a frame's points keep to, where that is not the field's bound.
struct FrameBoundsByPlace {
  double largest = 0;
  std::optional<LocalBounds> local = {};  ///< smaller ones

  PointBounds of_points(const Selection& points) const {
    return {largest, local ? &*local : nullptr, points};
  }
};

/// The bounds of a frame with this payload, which lies in the host's memory or the backend's and
/// may be no more than the first level. Nothing if they are the field's. Throws ArchiveError.
std::optional<FrameBoundsByPlace> bounds_of_frame(Backend& backend, const FrameShape& shape,
                                                  const FrameHeader& header, Bytes payload);

/// Restores a frame of this shape into `out`. `payload` and `out` may lie in the host's memory or
/// the backend's. Throws ArchiveError.
void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      Bytes payload, MutableBytes out, StepTimes& times);

/// Restores a frame as compress_frame() made it, header first, into `out`. Both may lie in the
/// host's memory or the backend's. Throws ArchiveError.
void decompress_frame(Backend& backend, const FrameShape& shape, Bytes frame, MutableBytes out,
                      StepTimes& times);

/// Restores the points of a frame that a preview shows. The first `preview.levels` levels of
/// `payload` are enough.
void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePreview& preview, Bytes payload, MutableBytes out,
                      StepTimes& times);

}  // namespace cuszi
