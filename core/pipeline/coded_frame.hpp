#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// False for a single value, or if the range overflows.
bool has_codable_range(double min, double max);
/// Tiles then restore values from logarithms and signs.
bool is_by_tiles(const TransformParams& transform, const PredictorParams& predictor);

/// The drafted predictor for a bound, knowing what `scan` tells. nullopt if it cannot be used.
std::optional<PredictorParams> predictor_for(PredictorParams draft, const PredictorConfig& config,
                                             const FieldScan& scan, double bound, DType dtype);

/// Without a hash.
LevelEntry level_entry(std::span<const Sections> passes);

/// By the level of each pass.
std::vector<LevelEntry> level_entries(std::span<const int> pass_levels,
                                      std::span<const Sections> passes);

/// The sections of the passes of a coded frame's first levels, given their bytes, one after the
/// other. Throws ArchiveError.
std::vector<Sections> read_sections(const FrameHeader& header, std::span<const Bytes> levels);

/// Up to least_payload_bytes(), for a frame of `value_bytes` bytes.
ByteCount padding_bytes(std::span<const Sections> passes, ByteCount value_bytes);

ByteCount frame_bytes(const FrameHeader& header);

}  // namespace cuszi
