#pragma once

#include <cmath>

#include "core/base/least_squares.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tuning/observation.hpp"

namespace cuszi {

// Stencil weights minimise squared residuals of a sample, reweighted by 1 / (r^2 + s^2 / 4 + 2
// e^2): residual r, level bound e, and the mean residual s of points with similar curvature, which
// contexts see. This approximates coded bits (docs/design/multilevel.md). Unknowns are the shares
// of all groups but the first, which completes the sum to 1; group means are relative to the first
// one. Neighbours are originals, so classes are independent; a noise term models the errors of
// restored neighbours.

inline constexpr unsigned most_unknowns = Stencil::most_groups - 1;
using Shares = std::array<double, most_unknowns>;  ///< without the first group
using StencilEquations = NormalEquations<most_unknowns>;

inline constexpr std::uint64_t fewest_fit_points = 40;

inline constexpr int fit_rounds = 4;

/// Bound of a level under the middle level-wise bounds: one fit serves all that are tried.
double fit_bound(const MultilevelParams& params, int level);

bool have_same_fits(const MultilevelParams& a, const MultilevelParams& b);

std::uint64_t stencil_sample(std::uint64_t points);

CUSZI_HD inline double residual_of(const double* row, std::size_t stride, double target,
                                   unsigned unknowns, const Shares& shares) {
  double r = target;
  for (unsigned i = 0; i < unknowns; ++i) r -= shares[i] * row[i * stride];
  return r;
}

/// 0 for unused observations.
CUSZI_HD inline double fit_weight(double residual, double scale, double bound, bool is_used) {
  return is_used ? 1 / (residual * residual + scale * scale / 4 + 2 * bound * bound) : 0;
}

inline constexpr unsigned scale_bins = 16;

/// Mean residuals in bounds. Integer sums: their order does not matter.
struct BinScales {
  static constexpr double one = 4096;
  std::array<std::uint64_t, scale_bins> sums{};
  std::array<std::uint32_t, scale_bins> counts{};

  CUSZI_HD static std::uint64_t term(double residual, double bound) {
    const double scaled = std::fabs(residual) / bound;
    return static_cast<std::uint64_t>((scaled < 0x1p20 ? scaled : 0x1p20) * one);
  }
  CUSZI_HD double mean(unsigned bin) const {
    return counts[bin] == 0 ? 0 : static_cast<double>(sums[bin]) / (one * counts[bin]);
  }
};

/// Error variance of restored neighbours at a point with this residual. Where codes are 0, errors
/// are the neighbours' own residuals, which are larger since their neighbours are farther away.
/// Elsewhere they are uniform within the bound and partly correlated. Constants are tuned on real
/// and simulated fields.
CUSZI_HD inline double neighbour_noise(double residual, double bound) {
  const double of_residual = 16 * residual * residual;
  const double of_code = 0.1 * bound * bound;
  return of_residual < of_code ? of_residual : of_code;
}

/// `noise` is the sum of weight x neighbour_noise().
CUSZI_HD inline void add_noise(const Stencil& stencil, double noise, unsigned row,
                               StencilEquations& equations) {
  const double first = noise / stencil.taps_of(0);
  equations.right[row] += first;
  for (unsigned j = row; j < equations.unknowns; ++j) equations.at(row, j) += first;
  equations.at(row, row) += noise / stencil.taps_of(row + 1);
}

/// The coefficient as stored.
CUSZI_HD inline std::int16_t coefficient_of(double share) {
  const double scaled = clamp_to(share * (1 << coefficient_bits), -16000.0, 16000.0);
  return static_cast<std::int16_t>(round_half_even(scaled));
}

inline constexpr double stencil_ridge = 1e-7;

/// Ratio of the prediction's variance to its neighbours' variance.
CUSZI_HD inline double noise_gain(const Shares& shares, unsigned unknowns, const Stencil& stencil) {
  double first = 1;
  double gain = 0;
  for (unsigned i = 0; i < unknowns; ++i) {
    first -= shares[i];
    gain += shares[i] * shares[i] / stencil.taps_of(i + 1);
  }
  return gain + first * first / stencil.taps_of(0);
}

/// Bins of curvature keys hold about equally many used samples.
using BendCounts = std::array<std::uint64_t, curvature_keys>;
using BendBins = std::array<std::uint8_t, curvature_keys>;

/// `count` of `all` samples have the key, `before` lower keys.
CUSZI_HD inline std::uint8_t bin_of(std::uint64_t before, std::uint64_t count, std::uint64_t all) {
  const std::uint64_t bin = all == 0 ? 0 : (2 * before + count) * scale_bins / (2 * all);
  return static_cast<std::uint8_t>(bin < scale_bins ? bin : scale_bins - 1);
}

inline BendBins bins_of(const BendCounts& counts) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  BendBins bins{};
  std::uint64_t before = 0;
  for (unsigned key = 0; key < curvature_keys; ++key) {
    bins[key] = bin_of(before, counts[key], all);
    before += counts[key];
  }
  return bins;
}

Shares unknowns_of(const Coefficients& coefficients);
Shares preset_unknowns(const PointClass& points, const Stencil& stencil);

}  // namespace cuszi
