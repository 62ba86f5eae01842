#pragma once

#include <optional>
#include <vector>

#include "core/field/asked_bounds.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi::test {

/// All that decides a frame's bytes besides its values.
struct FrameTask {
  FrameShape shape;
  FrameConfig config;
  FillValues fills;
  ErrorMode mode = ErrorMode::relative;
  double bound = 1e-3;
  double share = 0;           ///< of modes that have two bounds
  BoundsByPlace places = {};  ///< of a field that is this frame; absolute

  /// What `places` asks of the frame's blocks, if anything.
  std::optional<AskedBounds> asked() const;
};

struct BoundedFrame {
  CompressedFrame frame;
  ValueBound bound;
};

/// What the task allows in a frame of this range.
ValueBound bound_of(const FrameTask& task, double range);

BoundedFrame compress(Backend& backend, const FrameTask& task, Bytes values);

/// Compresses a frame under a bound that is known before the frame is loaded.
CompressedFrame compress_at_once(Backend& backend, const FrameTask& task, const ValueBound& bound,
                                 Bytes values);

/// Restores the values of a frame. Throws ArchiveError.
std::vector<std::byte> restore(Backend& backend, const FrameShape& shape, Bytes frame);
/// Nothing if the frame is refused.
std::vector<std::byte> restored_or_refused(Backend& backend, const FrameShape& shape, Bytes frame);

Bytes payload_of(const CompressedFrame& frame);
/// A frame with another payload of the same size, and the hashes of that.
std::vector<std::byte> with_payload(const CompressedFrame& frame, Bytes payload);

}  // namespace cuszi::test
