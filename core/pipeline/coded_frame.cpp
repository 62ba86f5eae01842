#include "core/pipeline/coded_frame.hpp"

#include <cmath>

namespace cuszi {

bool has_codable_range(double min, double max) {
  const double range = max - min;
  return range > 0 && std::isfinite(range);
}

bool is_by_tiles(const TransformParams& transform, const PredictorParams& predictor) {
  return std::holds_alternative<LogTransform>(transform) &&
         std::holds_alternative<TilesParams>(predictor);
}

LevelEntry level_entry(std::span<const Sections> passes) {
  LevelEntry level;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (const Section& section : passes[pass].list()) {
      level.sections.push_back({section.id, section.bytes.size(), pass, section.unpacked});
    }
  }
  return level;
}

std::vector<LevelEntry> level_entries(std::span<const int> pass_levels,
                                      std::span<const Sections> passes) {
  std::vector<LevelEntry> levels;
  for (const PassRange& level : passes_of_levels(pass_levels)) {
    levels.push_back(level_entry(of_range(passes, level)));
  }
  return levels;
}

ByteCount padding_bytes(std::span<const Sections> passes, ByteCount value_bytes) {
  const ByteCount least = least_payload_bytes(value_bytes);
  ByteCount size = 0;
  for (const Sections& pass : passes) size += pass.size();
  return least > size ? least - size : 0;
}

ByteCount frame_bytes(const FrameHeader& header) {
  return write_frame_header(header).size() + header.payload_bytes();
}

}  // namespace cuszi
