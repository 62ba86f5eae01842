#pragma once

#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/base/units.hpp"

namespace cuszi {

// What all ways of coding a frame have in common.

/// Whether a bound means anything for values of this range: not for one value, nor if the range
/// overflows.
bool has_codable_range(double min, double max);
/// Whether tiles hold logarithms with the signs of their values, and restore these themselves.
bool is_by_tiles(const TransformParams& transform, const PredictorParams& predictor);

/// The table entry of a level that holds the given passes, its hash yet unknown.
LevelEntry level_entry(std::span<const Sections> passes);

/// The table entries of all levels, given the level of each pass.
std::vector<LevelEntry> level_entries(std::span<const int> pass_levels,
                                      std::span<const Sections> passes);

/// The padding that the payload of a frame of `value_bytes` bytes needs to reach
/// least_payload_bytes().
ByteCount padding_bytes(std::span<const Sections> passes, ByteCount value_bytes);

/// What a frame with this header takes.
ByteCount frame_bytes(const FrameHeader& header);

}  // namespace cuszi
