#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/bit_width.hpp"
#include "core/base/cost.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/schedule.hpp"
#include "core/tuning/stencil_fit.hpp"

namespace cuszi {

// Estimates the cost of parameters without coding. Sampled points of each class are predicted from
// originals by stencils fitted to the sample; errors are summed by the spread of their neighbours,
// which contexts see. Classes are independent of each other. The effect of neighbours' errors
// follows from the sums, level by level.

/// Units per half step of level 1.
inline constexpr double error_sizes_per_bound = 256;
/// Octaves of the neighbours' spread.
inline constexpr int error_bins = 24;

CUSZI_HD inline std::uint64_t error_size(double x, double half_step) {
  constexpr double most = 1e9;
  return static_cast<std::uint64_t>(
      clamp_to(magnitude_of(x) / half_step * error_sizes_per_bound, 0.0, most));
}

CUSZI_HD inline int error_bin_of(std::uint64_t size) {
  const auto bits = static_cast<int>(bit_width_of(size));
  return bits < error_bins ? bits : error_bins - 1;
}

struct ClassErrors {
  struct Some {
    std::uint64_t count = 0;
    std::uint64_t size = 0;  ///< sum of error_size()
  };
  std::array<Some, error_bins> errors{};
  Coefficients coefficients;  ///< fitted to the sample; may be empty
  double noise_gain = 0;      ///< of the neighbours' variance in the prediction
};

/// Fewer samples use the preset.
inline constexpr std::uint64_t least_sampled_fit = 128;

/// Mean distance between the groups of a point's neighbours.
CUSZI_HD inline double neighbour_spread(const double* row, std::size_t stride, unsigned unknowns) {
  double sum = 0;
  for (unsigned i = 0; i < unknowns; ++i) sum += magnitude_of(row[i * stride]);
  return unknowns == 0 ? 0 : sum / unknowns;
}

/// Sample size of a class.
std::uint64_t sampled_cost_points(std::uint64_t points, std::uint64_t all_points);

double noise_gain_of(const Coefficients& coefficients, const PointClass& points,
                     const Stencil& stencil);

/// Estimated cost of the frame. `classes` are in schedule order.
Cost sampled_cost(const MultilevelParams& params, const Schedule& schedule,
                  std::span<const ClassErrors> classes);

}  // namespace cuszi
