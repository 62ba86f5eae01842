#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuszi {

/// What limits the codes of a pass.
struct PassShape {
  std::uint64_t points = 0;
  std::size_t contexts = 1;  ///< how many its codes can have
};

/// The passes from `first` on and before `end`.
struct PassRange {
  int first = 0;
  int end = 0;
};

/// What belongs to these passes, of something that all have.
template <class Element>
std::span<Element> of_range(std::span<Element> all, const PassRange& range) {
  return all.subspan(static_cast<std::size_t>(range.first),
                     static_cast<std::size_t>(range.end - range.first));
}

/// The passes of each level of the payload, which are neighbours; see level_of_pass().
inline std::vector<PassRange> passes_of_levels(std::span<const int> level_of_pass) {
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
