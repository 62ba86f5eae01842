#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace cuszi {

/// The lower median; reorders `values`.
template <class T, class Less = std::less<>>
const T& median_of(std::vector<T>& values, const Less& less = {}) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), less);
  return *middle;
}

}  // namespace cuszi
