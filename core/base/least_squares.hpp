#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "core/base/hd.hpp"

namespace cuszi {

/// The normal equations of a least-squares fit; of the symmetric matrix the upper triangle counts.
template <std::size_t most_unknowns>
struct NormalEquations {
  unsigned unknowns = 0;
  std::array<double, most_unknowns * most_unknowns> matrix{};
  std::array<double, most_unknowns> right{};

  CUSZI_HD double& at(unsigned i, unsigned j) { return matrix[i * most_unknowns + j]; }
  CUSZI_HD double at(unsigned i, unsigned j) const { return matrix[i * most_unknowns + j]; }
};

/// Takes steps for rows of an equation one after the other. Threads that take rows side by side
/// have their own kind of this, whose calls begin and end when all threads are there.
struct RowByRow {
  template <class Step>
  CUSZI_HD void operator()(unsigned first, unsigned end, const Step& step) const {
    for (unsigned row = first; row < end; ++row) step(row);
  }
};

/// The solution by Gauss elimination with `ridge` of the trace added to the diagonal; uses up the
/// equations. Rows are eliminated from the first on, unknowns found from the last on, each
/// subtracted at once from all right sides above it; so every step is one for all rows side by
/// side. False, and `x` undefined, if it is not finite.
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
