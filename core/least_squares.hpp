#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cuszi {

/// Normal equations of a weighted least-squares fit, summed in the order of add().
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t unknowns)
      : n_(unknowns), matrix_(unknowns * unknowns, 0), right_(unknowns, 0) {}

  /// One observation: row x unknowns = target.
  void add(const double* row, double target, double weight) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double w = weight * row[i];
      right_[i] += w * target;
      for (std::size_t j = i; j < n_; ++j) matrix_[i * n_ + j] += w * row[j];
    }
  }

  double& matrix(std::size_t i, std::size_t j) { return matrix_[i <= j ? i * n_ + j : j * n_ + i]; }
  double& right(std::size_t i) { return right_[i]; }

  /// The solution by Gauss elimination with `ridge` of the trace added to the diagonal; nothing if
  /// it is not finite.
  std::optional<std::vector<double>> solve(double ridge) const {
    std::vector<double> a = matrix_;
    std::vector<double> x = right_;
    double trace = 0;
    for (std::size_t i = 0; i < n_; ++i) trace += a[i * n_ + i];
    for (std::size_t i = 0; i < n_; ++i) {
      a[i * n_ + i] += ridge * trace + 1e-300;
      for (std::size_t j = 0; j < i; ++j) a[i * n_ + j] = a[j * n_ + i];
    }
    for (std::size_t i = 0; i < n_; ++i) {  // positive definite: no pivoting
      for (std::size_t j = i + 1; j < n_; ++j) {
        const double factor = a[j * n_ + i] / a[i * n_ + i];
        for (std::size_t k = i; k < n_; ++k) a[j * n_ + k] -= factor * a[i * n_ + k];
        x[j] -= factor * x[i];
      }
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) x[i] -= a[i * n_ + k] * x[k];
      x[i] /= a[i * n_ + i];
      if (!std::isfinite(x[i])) return std::nullopt;
    }
    return x;
  }

 private:
  std::size_t n_;
  std::vector<double> matrix_;  ///< upper triangle
  std::vector<double> right_;
};

}  // namespace cuszi
