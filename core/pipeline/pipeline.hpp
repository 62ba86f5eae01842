#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/archive/preview.hpp"
#include "core/backend/backend.hpp"
#include "core/backend/steps.hpp"
#include "core/choices/trials.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// A frame that a backend has looked at and holds, until it is compressed or goes out of scope. If
/// its bound needs no range, the backend may have seen but a sample, and reads the frame once, when
/// it codes it.
struct LoadedFrame {
  FrameShape shape;
  Bytes values;
  PredictorParams draft;
  FieldScan scan;  ///< nothing yet if there is a `once`
  std::unique_ptr<EncodeSession> session;
  std::unique_ptr<OnePassSession> once;  ///< instead of a session
  /// Takes the values away, to be called when none of these is looked at any more. None if they
  /// are to stay.
  std::function<void()> release_values = {};

  std::vector<double> values_at(std::span<const std::uint64_t> points) const {
    return once ? once->values_at(points) : session->values_at(points);
  }
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

/// First look at a frame: enough to know the range that a relative bound refers to.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, StepTimes& times);

/// Loads a frame that was scanned before: `scan` is the result of that scan.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, const FieldScan& scan,
                       StepTimes& times);

/// Loads a frame that is going to be compressed under `bound`, without scanning it where the
/// backend can code it in one pass.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, double bound, StepTimes& times);

/// Compresses a frame that `backend` has loaded: passes of predict-quantise and entropy coding. No
/// restored value that is not missing will differ from the original by more than `bound`. A frame
/// of one value is no more than that value and its mask. Where coding cannot be done (bound 0,
/// range beyond the dtype) or does not pay, the values are packed losslessly or stored.
CompressedFrame compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                               std::uint64_t index, double bound, StepTimes& times);

/// Compresses a frame, as above, into memory from `allocate`, header first. `advice` shares choices
/// between the frames of a field.
FrameReport compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                           std::uint64_t index, double bound, const Allocate& allocate,
                           StepTimes& times, const FrameAdvice& advice = {});

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
