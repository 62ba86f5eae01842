#include "core/decode_session.hpp"

#include <algorithm>

namespace cuszi {

std::vector<CodedLevel> coded_levels(std::span<const int> pass_levels,
                                     std::span<const PassShape> shapes,
                                     std::span<const Sections> passes) {
  std::vector<CodedLevel> levels;
  for (std::size_t first = 0; first < passes.size();) {
    const auto same = std::count(pass_levels.begin(), pass_levels.end(), pass_levels[first]);
    const auto count = static_cast<std::size_t>(same);
    levels.push_back({shapes.subspan(first, count), passes.subspan(first, count)});
    first += count;
  }
  return levels;
}

}  // namespace cuszi
