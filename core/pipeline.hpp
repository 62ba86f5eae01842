#pragma once

#include <cstdint>
#include <vector>

#include "core/backend.hpp"
#include "core/config.hpp"
#include "core/steps.hpp"

namespace cuszi {

/// A frame that a backend has looked at and holds.
struct LoadedFrame {
  FrameShape shape;
  Bytes values;
  PredictorParams draft;
  FieldScan scan;
};

/// A frame as it stands in an archive, and what there is to tell of it.
struct CompressedFrame {
  FrameHeader header;
  std::vector<std::byte> bytes;  ///< header and payload
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// First look at a frame: enough to know the range that a relative bound refers to.
LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, StepTimes& times);

/// Compresses the frame that `backend` has loaded last: passes of predict-quantise and entropy
/// coding. No restored value that is not missing will differ from the original by more than
/// `bound`. Where coding cannot be done (bound 0, constant, range beyond the dtype) or does not
/// pay, the values are packed losslessly or stored.
CompressedFrame compress_frame(Backend& backend, const FrameConfig& config,
                               const LoadedFrame& frame, std::uint64_t index, double bound,
                               StepTimes& times);

/// Restores a frame of this shape into `out`. Throws ArchiveError.
void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      Bytes payload, MutableBytes out, StepTimes& times);

}  // namespace cuszi
