#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace cuszi {

/// The median of some values, which are put in another order; of two in the middle the lower.
template <class T, class Less = std::less<>>
const T& median_of(std::vector<T>& values, const Less& less = {}) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), less);
  return *middle;
}

}  // namespace cuszi
