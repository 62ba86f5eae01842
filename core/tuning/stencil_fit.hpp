#pragma once

#include <cmath>
#include <vector>

#include "core/base/cost.hpp"
#include "core/base/least_squares.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tuning/observation.hpp"

namespace cuszi {

// Which weights a class's stencil gets: iteratively reweighted least squares on a sample of its
// points, with weight 1 / (r^2 + s^2 / 4 + 2 e^2). r is the residual, e the level's bound, and s
// what residuals are about where the curvature of the field is as large as here: the coder's
// contexts will know that. It approximates the coded bits (docs/design/multilevel.md). The unknowns
// are the shares of the groups but the first, whose share makes the sum 1: the mean of a group is
// seen less the first one's. The neighbours are originals, so that no class waits for another;
// noise in the equations stands for what the decoder's neighbours differ from them.

inline constexpr unsigned most_unknowns = Stencil::most_groups - 1;
using Shares = std::array<double, most_unknowns>;  ///< of the groups from the second on
using StencilEquations = NormalEquations<most_unknowns>;

inline constexpr std::uint64_t fewest_fit_points = 40;

inline constexpr int fit_rounds = 4;

/// The bound by which the classes of a level are fitted: that of level-wise bounds half way between
/// those that are tried, so that one fit serves all of them. Fits to a frame's own bounds make no
/// difference to speak of.
double fit_bound(const MultilevelParams& params, int level);

/// Whether the classes of a frame get the same coefficients with these parameters.
bool have_same_fits(const MultilevelParams& a, const MultilevelParams& b);

/// How many points of a class a fit looks at.
std::uint64_t stencil_sample(std::uint64_t points);

/// What these shares leave of a target.
CUSZI_HD inline double residual_of(const double* row, std::size_t stride, double target,
                                   unsigned unknowns, const Shares& shares) {
  double r = target;
  for (unsigned i = 0; i < unknowns; ++i) r -= shares[i] * row[i * stride];
  return r;
}

/// The weight of an observation with this residual; 0 if it takes no part.
CUSZI_HD inline double fit_weight(double residual, double scale, double bound, bool is_used) {
  return is_used ? 1 / (residual * residual + scale * scale / 4 + 2 * bound * bound) : 0;
}

inline constexpr unsigned scale_bins = 16;

/// The mean residuals of the bins, in bounds: sums of integers, whose order is free.
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

/// The variance that the errors of restored neighbours have where a point has this residual. Where
/// codes are 0, errors are the neighbours' own residuals, which are larger: theirs are farther
/// away. Elsewhere they are uniform within the bound, and partly alike, so that a part of them is
/// noise. The numbers are those that took the fewest bytes on real and simulated fields.
CUSZI_HD inline double neighbour_noise(double residual, double bound) {
  const double of_residual = 16 * residual * residual;
  const double of_code = 0.1 * bound * bound;
  return of_residual < of_code ? of_residual : of_code;
}

/// Adds to a row of the equations what the errors of restored neighbours do: `noise` is the sum of
/// all observations' weights times their neighbour_noise().
CUSZI_HD inline void add_noise(const Stencil& stencil, double noise, unsigned row,
                               StencilEquations& equations) {
  const double first = noise / stencil.taps_of(0);
  equations.right[row] += first;
  for (unsigned j = row; j < equations.unknowns; ++j) equations.at(row, j) += first;
  equations.at(row, row) += noise / stencil.taps_of(row + 1);
}

/// A share in units of 2^-coefficient_bits, as it is stored.
CUSZI_HD inline std::int16_t coefficient_of(double share) {
  const double scaled = clamp_to(share * (1 << coefficient_bits), -16000.0, 16000.0);
  return static_cast<std::int16_t>(round_half_even(scaled));
}

inline constexpr double stencil_ridge = 1e-7;  ///< see solve()

/// What the variance of a point's neighbours becomes in its prediction by these shares.
CUSZI_HD inline double noise_gain(const Shares& shares, unsigned unknowns, const Stencil& stencil) {
  double first = 1;
  double gain = 0;
  for (unsigned i = 0; i < unknowns; ++i) {
    first -= shares[i];
    gain += shares[i] * shares[i] / stencil.taps_of(i + 1);
  }
  return gain + first * first / stencil.taps_of(0);
}

/// Twice the bits, about, of a residual from a Laplacian distribution whose mean magnitude s has
/// this square, in squared bounds: the logarithm of 1 + (e s)^2.
CUSZI_HD inline Cost scale_cost(double square) {
  const double scaled = clamp_to(2.718 * 2.718 * square, 0.0, 1e12);
  return log2_of(static_cast<std::uint64_t>((1 + scaled) * 4096)) - (12U << cost_bits);
}

/// Twice what the sampled points of a bin cost, predicted with this noise_gain(): their neighbours
/// are restored with errors like theirs.
CUSZI_HD inline Cost bin_cost(const BinScales& scales, unsigned bin, double gain) {
  const double mean = scales.mean(bin);
  return scales.counts[bin] * scale_cost(mean * mean + gain * neighbour_noise(mean, 1));
}

/// The cost of a class of `points` points, from the sum of the bin_cost() of the `used` points that
/// its sample used.
CUSZI_HD inline Cost fit_cost(Cost of_bins, std::uint64_t points, std::uint64_t used) {
  return of_bins / 2 * points / used;
}

/// Whether fitted coefficients save more against the preset than they take.
CUSZI_HD inline bool fit_pays(Cost fitted, unsigned coefficients, Cost preset) {
  constexpr Cost bits_per_coefficient = 11;
  return fitted + ((bits_per_coefficient * coefficients) << cost_bits) < preset;
}

/// The bins of samples by their curvature_key(), about as many samples in each; `counts` are those
/// of the samples that take part.
using BendCounts = std::array<std::uint64_t, curvature_keys>;
using BendBins = std::array<std::uint8_t, curvature_keys>;

/// The bin of a key that `count` of `all` samples have, with `before` of lower keys.
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

/// The shares that coefficients stand for.
Shares unknowns_of(const Coefficients& coefficients);
/// The shares of the preset, of the groups from the second on.
Shares preset_unknowns(const PointClass& points, const Stencil& stencil);

}  // namespace cuszi
