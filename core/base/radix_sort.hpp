#pragma once

#include <vector>

namespace cuszi {

/// Ascending, -0 before 0; none may be NaN. Several times faster than std::sort from thousands of
/// values on.
void radix_sort(std::vector<double>& values);

}  // namespace cuszi
