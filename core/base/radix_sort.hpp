#pragma once

#include <vector>

namespace cuszi {

/// Sorts values none of which is NaN, -0 before 0: several times as fast as by comparisons where
/// there are thousands.
void radix_sort(std::vector<double>& values);

}  // namespace cuszi
