#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuszi {

struct PassShape {
  std::uint64_t points = 0;
  std::size_t contexts = 1;  ///< of its codes
};

/// A half-open range.
struct PassRange {
  int first = 0;
  int end = 0;
};

template <class Element>
std::span<Element> of_range(std::span<Element> all, const PassRange& range) {
  return all.subspan(static_cast<std::size_t>(range.first),
                     static_cast<std::size_t>(range.end - range.first));
}

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
