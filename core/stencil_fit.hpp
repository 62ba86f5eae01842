#pragma once

#include <vector>

#include "core/cost.hpp"
#include "core/fit_sample.hpp"
#include "core/lane_sums.hpp"
#include "core/least_squares.hpp"
#include "core/multilevel.hpp"
#include "core/stencil.hpp"

namespace cuszi {

// Which weights a class's stencil gets: iteratively reweighted least squares on a sample of the
// original values, with weight 1 / (r^2 + e^2), r being the residual and e the level's bound. That
// approximates the coded bits (docs/multilevel.md). The unknowns are the shares of the groups but
// the first, whose share makes the sum 1: the mean of a group is seen less the first one's.

inline constexpr unsigned most_unknowns = Stencil::most_groups - 1;
using Shares = std::array<double, most_unknowns>;  ///< of the groups from the second on
using StencilEquations = NormalEquations<most_unknowns>;

inline constexpr int fit_rounds = 4;
inline constexpr std::uint64_t fewest_fit_points = 40;

/// How many points of a class a fit looks at.
std::uint64_t stencil_sample(std::uint64_t points, FitSample size);

/// One sampled point: row[i * stride] for the i-th unknown, and what they are to make together.
/// False if it takes no part, with zeros for all: it is at the edge, or it or a tap of it is not
/// finite. Missing originals must be NaN.
template <class T>
CUSZI_HD inline bool observe(const Stencil& stencil, const PointAt<const T*>& p, double* row,
                             std::size_t stride, double& target) {
  bool is_used = !is_at_edge(p);
  double first = 0;
  auto sum = static_cast<double>(*p.value);
  for (unsigned g = 0; g < stencil.size && is_used; ++g) {
    const auto in_group = static_cast<double>(
        group_sum(p, stencil.taps.data() + stencil.begin(g), stencil.taps_of(g)));
    sum += in_group;
    const double mean = in_group / stencil.taps_of(g);
    if (g == 0) {
      first = mean;
    } else {
      row[(g - 1) * stride] = mean - first;
    }
  }
  is_used = is_used && std::isfinite(sum);
  target = is_used ? static_cast<double>(*p.value) - first : 0;
  for (unsigned i = 0; i + 1 < stencil.size && !is_used; ++i) row[i * stride] = 0;
  return is_used;
}

/// What these shares leave of a target.
CUSZI_HD inline double residual_of(const double* row, std::size_t stride, double target,
                                   unsigned unknowns, const Shares& shares) {
  double r = target;
  for (unsigned i = 0; i < unknowns; ++i) r -= shares[i] * row[i * stride];
  return r;
}

/// The weight of an observation with this residual; 0 if it takes no part.
CUSZI_HD inline double fit_weight(double residual, double bound, bool is_used) {
  return is_used ? 1 / (residual * residual + bound * bound) : 0;
}

/// The decoder's neighbours differ from the original's by quantisation noise; `weights` is the sum
/// of all observations'.
CUSZI_HD inline void add_noise(const Stencil& stencil, double weights, double bound,
                               StencilEquations& equations) {
  constexpr double share = 0.5;  // of the variance of a uniform quantisation error
  const double variance = weights * share * bound * bound / 3;
  const double first = variance / stencil.taps_of(0);
  for (unsigned i = 0; i < equations.unknowns; ++i) {
    equations.right[i] += first;
    for (unsigned j = i; j < equations.unknowns; ++j) equations.at(i, j) += first;
    equations.at(i, i) += variance / stencil.taps_of(i + 1);
  }
}

/// A share in units of 2^-coefficient_bits, as it is stored.
CUSZI_HD inline std::int16_t coefficient_of(double share) {
  const double scaled = clamp_to(share * (1 << coefficient_bits), -16000.0, 16000.0);
  return static_cast<std::int16_t>(round_half_even(scaled));
}

/// Twice the bits of an observation with this residual, about: the logarithm of 1 + (r / bound)^2.
CUSZI_HD inline Cost residual_cost(double residual, double bound) {
  const double scaled = residual / bound;
  const double square = clamp_to(scaled * scaled, 0.0, 1e12);
  return log2_of(static_cast<std::uint64_t>((1 + square) * 4096)) - (12U << cost_bits);
}

/// The sampled points of a class, 32 side by side: sample k is lane k mod 32 of block k / 32, also
/// if it takes no part.
class Observations {
 public:
  Observations(unsigned unknowns, std::uint64_t samples);

  unsigned unknowns() const { return unknowns_; }
  std::uint64_t samples() const { return samples_; }
  std::size_t blocks() const { return values_.size() / block_size(); }
  std::uint64_t used() const;

  /// 32 numbers: of one unknown of a block's samples, of their targets, whether they take part (1
  /// or 0).
  double* row(std::size_t block, unsigned unknown) {
    return values_.data() + block * block_size() + unknown * sum_lanes;
  }
  const double* row(std::size_t block, unsigned unknown) const {
    return values_.data() + block * block_size() + unknown * sum_lanes;
  }
  double* targets(std::size_t block) { return row(block, unknowns_); }
  const double* targets(std::size_t block) const { return row(block, unknowns_); }
  double* taking_part(std::size_t block) { return row(block, unknowns_ + 1); }
  const double* taking_part(std::size_t block) const { return row(block, unknowns_ + 1); }

 private:
  std::size_t block_size() const { return (unknowns_ + 2) * sum_lanes; }

  unsigned unknowns_;
  std::uint64_t samples_;
  std::vector<double> values_;
};

/// The equations of a round, noise included, whose weights follow from the shares of the round
/// before: sums of 32 partial ones (core/lane_sums).
StencilEquations stencil_equations(const Observations& sample, const Stencil& stencil, double bound,
                                   const Shares& before);

/// The coefficients of a class with so many points, or none if the preset is as good.
Coefficients fit_stencil(const Observations& sample, const Stencil& stencil,
                         const PointClass& points, double bound);

}  // namespace cuszi
