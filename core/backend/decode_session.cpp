#include "core/backend/decode_session.hpp"

namespace cuszi {

std::vector<CodedLevel> coded_levels(std::span<const int> pass_levels,
                                     std::span<const PassShape> shapes,
                                     std::span<const Sections> passes) {
  std::vector<CodedLevel> levels;
  for (const PassRange& level : passes_of_levels(pass_levels.first(passes.size()))) {
    levels.push_back({of_range(shapes, level), of_range(passes, level)});
  }
  return levels;
}

}  // namespace cuszi
