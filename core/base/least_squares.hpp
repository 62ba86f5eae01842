#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "core/base/hd.hpp"

namespace cuszi {

/// Partial sums of a sum that decides bytes. Partial sum k adds the terms k, k + 32, ... in order;
/// tree_sum() adds the partial sums.
inline constexpr std::size_t sum_lanes = 32;

using LaneSums = std::array<double, sum_lanes>;

/// Adds partial sums, a power of two of them, in one fixed tree: repeatedly the upper half to the
/// lower half.
template <class Sum, std::size_t count>
CUSZI_HD inline Sum tree_sum(std::array<Sum, count> sums) {
  for (std::size_t half = count / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

/// The normal equations of a least-squares fit; only the matrix's upper triangle is used.
template <std::size_t most_unknowns>
struct NormalEquations {
  unsigned unknowns = 0;
  std::array<double, most_unknowns * most_unknowns> matrix{};
  std::array<double, most_unknowns> right{};

  CUSZI_HD double& at(unsigned i, unsigned j) { return matrix[i * most_unknowns + j]; }
  CUSZI_HD double at(unsigned i, unsigned j) const { return matrix[i * most_unknowns + j]; }
};

/// Parallel executors have the same interface, with a barrier at the beginning and end of each
/// call.
struct RowByRow {
  template <class Step>
  CUSZI_HD void operator()(unsigned first, unsigned end, const Step& step) const {
    for (unsigned row = first; row < end; ++row) step(row);
  }
};

/// Gauss elimination in place, with `ridge` of the trace added to the diagonal. Rows of a step are
/// independent. Returns false, with `x` undefined, if the solution is not finite.
template <std::size_t most_unknowns, class Rows>
CUSZI_HD inline bool solve_in_place(NormalEquations<most_unknowns>& a, double ridge,
                                    std::array<double, most_unknowns>& x, const Rows& rows) {
  const unsigned n = a.unknowns;
  double trace = 0;
  for (unsigned i = 0; i < n; ++i) trace += a.at(i, i);
  rows(0, n, [&](unsigned i) {
    x[i] = a.right[i];
    a.at(i, i) += ridge * trace + 1e-300;
    for (unsigned j = 0; j < i; ++j) a.at(i, j) = a.at(j, i);
  });
  for (unsigned i = 0; i < n; ++i) {  // positive definite: no pivoting
    rows(i + 1, n, [&](unsigned j) {
      const double factor = a.at(j, i) / a.at(i, i);
      for (unsigned k = i; k < n; ++k) a.at(j, k) -= factor * a.at(i, k);
      x[j] -= factor * x[i];
    });
  }
  for (unsigned i = n; i-- > 0;) {
    rows(i, i + 1, [&](unsigned row) { x[row] /= a.at(row, row); });
    rows(0, i, [&](unsigned j) { x[j] -= a.at(j, i) * x[i]; });
  }
  for (unsigned i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return false;
  }
  return true;
}

template <std::size_t most_unknowns>
CUSZI_HD inline bool solve(NormalEquations<most_unknowns> equations, double ridge,
                           std::array<double, most_unknowns>& x) {
  return solve_in_place(equations, ridge, x, RowByRow{});
}

}  // namespace cuszi
