#pragma once

#include <initializer_list>
#include <span>

namespace cuszi::test {

/// The sign (-1, 0, 1) of the exact sum of finite doubles, in integers of 2^-1074.
int sign_of_sum(std::span<const double> terms);
inline int sign_of_sum(std::initializer_list<double> terms) {
  return sign_of_sum(std::span(terms.begin(), terms.size()));
}

/// |a - b| <= bound without any rounding, for finite doubles; made to check what core computes, so
/// it shares nothing with it.
inline bool differ_by_at_most(double a, double b, double bound) {
  return sign_of_sum({a, -b, -bound}) <= 0 && sign_of_sum({b, -a, -bound}) <= 0;
}

/// |a - b| <= share |a| without any rounding, and both have the same sign, for finite doubles and
/// a share below 1. A zero differs from all but itself.
bool differ_by_at_most_share(double a, double b, double share);

}  // namespace cuszi::test
