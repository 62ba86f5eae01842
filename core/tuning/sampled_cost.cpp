#include "core/tuning/sampled_cost.hpp"

#include <algorithm>

namespace cuszi {

namespace {

constexpr std::uint64_t whole_sample = 16384;  ///< of all classes, about
constexpr std::uint64_t least_sample = 64;
constexpr std::uint64_t most_sample = 2048;
/// Errors of neighbours are correlated, so their mean keeps a part of the variance.
constexpr double alike_share = 0.15;
constexpr double other_share = 0.5;

/// Bits (in 2^-16) of quantised Laplacian errors, by log2(mean size / half step) in quarters from
/// -4 to 4; beyond, one bit per octave.
constexpr std::array<std::uint32_t, 33> laplace_costs{
    0,      2,      15,     78,     307,    954,    2427,   5237,   9848,   16521,  25230,
    35702,  47540,  60357,  73858,  87858,  102251, 116979, 132003, 147289, 162801, 178504,
    194365, 210351, 226437, 242599, 258820, 275084, 291381, 307701, 324040, 340391, 356751};

/// `square` is the mean squared error in half steps.
Cost cost_of_square(double square) {
  constexpr double units = 1 << 20;    // of the square; 40 quarters of the root's logarithm
  constexpr std::int64_t lowest = 24;  // where the root's logarithm is -4
  const auto scaled = static_cast<std::uint64_t>(clamp_to(square, 0.0, 1e12) * units);
  if (scaled == 0) return 0;
  // Twice the root's logarithm in units of 2^-cost_bits; in eighths of these are its quarters.
  const std::int64_t place = static_cast<std::int64_t>(log2_of(scaled)) * 2 - (lowest << cost_bits);
  if (place <= 0) return 0;
  const auto quarter = static_cast<std::size_t>(place >> cost_bits);
  const auto part = static_cast<std::uint64_t>(place & ((1 << cost_bits) - 1));
  constexpr std::size_t last = laplace_costs.size() - 1;
  if (quarter >= last) {
    const auto beyond = static_cast<std::uint64_t>(place) - (last << cost_bits);
    return laplace_costs[last] + beyond / 4;
  }
  const Cost low = laplace_costs.at(quarter);
  return low + (((laplace_costs.at(quarter + 1) - low) * part) >> cost_bits);
}

struct ClassCost {
  Cost cost = 0;
  double noise = 0;  ///< variance of restored values
};

/// `noise` is the neighbours' variance, `bound` the level's, both in units of sizes.
ClassCost cost_of(const ClassErrors& errors, std::uint64_t points, double noise, double bound) {
  ClassCost result;
  std::uint64_t all = 0;
  const double inverse = 1 / (bound * bound);
  for (const ClassErrors::Some& some : errors.errors) {
    if (some.count == 0) continue;
    const double size = static_cast<double>(some.size) / static_cast<double>(some.count);
    const double square =
        (size * size + (alike_share + other_share * errors.noise_gain) * noise) * inverse;
    result.cost += some.count * cost_of_square(square);
    result.noise += static_cast<double>(some.count) * std::min(square, 1.0 / 3);
    all += some.count;
  }
  if (all == 0) return {};
  // A fit fits its own sample too well, by half a nat an unknown.
  constexpr Cost cost_of_unknown = static_cast<Cost>(0.72 * (1 << cost_bits));
  result.cost += errors.coefficients.size() * cost_of_unknown;
  result.cost = result.cost * points / all;
  result.noise *= bound * bound / static_cast<double>(all);
  return result;
}

}  // namespace

std::uint64_t sampled_cost_points(std::uint64_t points, std::uint64_t all_points) {
  const std::uint64_t share = points * whole_sample / all_points;
  return std::min(points, std::clamp(share, least_sample, most_sample));
}

double noise_gain_of(const Coefficients& coefficients, const PointClass& points,
                     const Stencil& stencil) {
  if (stencil.size == 0) return 0;
  const Shares shares =
      coefficients.empty() ? preset_unknowns(points, stencil) : unknowns_of(coefficients);
  return noise_gain(shares, stencil.size - 1U, stencil);
}

Cost sampled_cost(const MultilevelParams& params, const Schedule& schedule,
                  std::span<const ClassErrors> classes) {
  Cost cost = 0;
  double noise = 0;
  for (const Pass& pass : schedule.passes) {
    const double bound = params.half_step_of(pass.level) / params.half_step * error_sizes_per_bound;
    double left = 0;
    for (const PointClass& points : schedule.classes_of(pass)) {
      const ClassCost some = cost_of(classes[points.index], points.points(), noise, bound);
      cost += some.cost;
      left += some.noise * static_cast<double>(points.points());
    }
    noise = left / static_cast<double>(pass.points);
  }
  return cost;
}

}  // namespace cuszi
