#include "core/pipeline/coded_frame.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace cuszi {

bool has_codable_range(double min, double max) {
  const double range = max - min;
  return range > 0 && std::isfinite(range);
}

bool is_by_tiles(const TransformParams& transform, const PredictorParams& predictor) {
  return std::holds_alternative<LogTransform>(transform) &&
         std::holds_alternative<TilesParams>(predictor);
}

std::optional<PredictorParams> predictor_for(PredictorParams draft, const PredictorConfig& config,
                                             const FieldScan& scan, double bound, DType dtype) {
  const bool usable = std::visit(
      [&](auto& p) {
        p.choose(config, scan, bound, dtype);
        return p.is_usable(dtype);
      },
      draft);
  return usable ? std::optional(std::move(draft)) : std::nullopt;
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

std::vector<Sections> read_sections(const FrameHeader& header, std::span<const Bytes> levels) {
  const std::vector<int> pass_levels = level_of_pass(*header.predictor);
  std::vector<Sections> all;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto passes = std::count(pass_levels.begin(), pass_levels.end(), static_cast<int>(level));
    auto sections =
        read_passes(header.levels[level], static_cast<std::size_t>(passes), levels[level]);
    std::move(sections.begin(), sections.end(), std::back_inserter(all));
  }
  return all;
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
