#include "core/coders/pass_shape.hpp"

namespace cuszi {

std::vector<PassRange> passes_of_levels(std::span<const int> level_of_pass) {
  std::vector<PassRange> levels;
  const auto passes = static_cast<int>(level_of_pass.size());
  for (int pass = 0; pass < passes; ++pass) {
    const auto i = static_cast<std::size_t>(pass);
    if (pass == 0 || level_of_pass[i] != level_of_pass[i - 1]) levels.push_back({pass, pass});
    levels.back().end = pass + 1;
  }
  return levels;
}

}  // namespace cuszi
