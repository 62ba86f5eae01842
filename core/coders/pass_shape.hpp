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
std::vector<PassRange> passes_of_levels(std::span<const int> level_of_pass);

}  // namespace cuszi
