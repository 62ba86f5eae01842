#pragma once

#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// False for a single value, or if the range overflows.
bool has_codable_range(double min, double max);
/// Tiles then restore values from logarithms and signs.
bool is_by_tiles(const TransformParams& transform, const PredictorParams& predictor);

/// Without a hash.
LevelEntry level_entry(std::span<const Sections> passes);

/// By the level of each pass.
std::vector<LevelEntry> level_entries(std::span<const int> pass_levels,
                                      std::span<const Sections> passes);

/// Up to least_payload_bytes(), for a frame of `value_bytes` bytes.
ByteCount padding_bytes(std::span<const Sections> passes, ByteCount value_bytes);

ByteCount frame_bytes(const FrameHeader& header);

}  // namespace cuszi
