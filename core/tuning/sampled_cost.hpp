#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bit_width.hpp"
#include "core/base/cost.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/schedule.hpp"
#include "core/tuning/stencil_fit.hpp"

namespace cuszi {

// What parameters of `multilevel` would cost, without coding anything: sampled points of every
// class are predicted from originals by stencils fitted to the sample itself, and their errors are
// summed up, apart for how much their neighbours disagree, since a coder knows that. No point waits
// for another, so that all classes of all candidates can be looked at side by side. What the
// neighbours' own errors add follows from the sums, level by level.

/// Number of error units in the half step of level 1; sampled errors are integers in these units.
inline constexpr double error_sizes_per_bound = 256;
/// Points are told apart by the octave of how much their neighbours disagree.
inline constexpr int error_bins = 24;

/// |x| in units of half_step / error_sizes_per_bound, as an integer.
CUSZI_HD inline std::uint64_t error_size(double x, double half_step) {
  constexpr double most = 1e9;
  return static_cast<std::uint64_t>(
      clamp_to(magnitude_of(x) / half_step * error_sizes_per_bound, 0.0, most));
}

CUSZI_HD inline int error_bin_of(std::uint64_t size) {
  const auto bits = static_cast<int>(bit_width_of(size));
  return bits < error_bins ? bits : error_bins - 1;
}

/// What the sample of a class tells.
struct ClassErrors {
  struct Some {
    std::uint64_t count = 0;
    std::uint64_t size = 0;  ///< the sum of their error_size()
  };
  std::array<Some, error_bins> errors{};
  Coefficients coefficients;  ///< that the errors are of, fitted to the sample; or none
  double noise_gain = 0;      ///< what the neighbours' variance becomes in the prediction
};

/// Smaller samples are predicted by the preset.
inline constexpr std::uint64_t least_sampled_fit = 128;

/// How far the groups of a point's neighbours are from each other, on average.
CUSZI_HD inline double neighbour_spread(const double* row, std::size_t stride, unsigned unknowns) {
  double sum = 0;
  for (unsigned i = 0; i < unknowns; ++i) sum += magnitude_of(row[i * stride]);
  return unknowns == 0 ? 0 : sum / unknowns;
}

/// How many points of a class are looked at.
std::uint64_t sampled_cost_points(std::uint64_t points, std::uint64_t all_points);

/// ClassErrors::noise_gain of a class with these coefficients.
double noise_gain_of(const Coefficients& coefficients, const PointClass& points,
                     const Stencil& stencil);

/// About what all points cost with the level-wise bounds of these parameters; the classes are those
/// of the schedule that their lattice makes.
Cost sampled_cost(const MultilevelParams& params, const Schedule& schedule,
                  std::span<const ClassErrors> classes);

}  // namespace cuszi
