#include "core/stencil_fit.hpp"

#include <algorithm>

namespace cuszi {

namespace {

constexpr std::uint64_t least_sample = 2048;  ///< all that a trial takes
constexpr std::uint64_t most_sample = 8192;
constexpr double ridge = 1e-7;

/// Adds the products of two rows, weighted, lane by lane.
void add_products(const LaneSums& weighted, const double* row, LaneSums& sums) {
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) sums[lane] += weighted[lane] * row[lane];
}

/// The weights of a block's samples.
LaneSums weights_of(const Observations& sample, std::size_t block, double bound,
                    const Shares& shares) {
  LaneSums weights;
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
    weights[lane] = sample.targets(block)[lane];
  }
  for (unsigned i = 0; i < sample.unknowns(); ++i) {
    const double* const row = sample.row(block, i);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) weights[lane] -= shares[i] * row[lane];
  }
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
    weights[lane] = fit_weight(weights[lane], bound, sample.taking_part(block)[lane] != 0);
  }
  return weights;
}

/// The cost of a class with these shares, by its sample.
Cost cost_of(const Observations& sample, std::uint64_t points, double bound, const Shares& shares) {
  Cost cost = 0;
  for (std::uint64_t k = 0; k < sample.samples(); ++k) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    if (sample.taking_part(block)[lane] == 0) continue;
    const double r = residual_of(sample.row(block, 0) + lane, sum_lanes,
                                 sample.targets(block)[lane], sample.unknowns(), shares);
    cost += residual_cost(r, bound);
  }
  return cost / 2 * points / sample.used();
}

}  // namespace

std::uint64_t stencil_sample(std::uint64_t points, FitSample size) {
  const std::uint64_t most = size == FitSample::full ? most_sample : least_sample;
  return std::min(points, std::clamp(points / 4, least_sample, most));
}

Observations::Observations(unsigned unknowns, std::uint64_t samples)
    : unknowns_(unknowns),
      samples_(samples),
      values_(ceil_div(samples, sum_lanes) * block_size(), 0) {}

std::uint64_t Observations::used() const {
  std::uint64_t count = 0;
  for (std::size_t block = 0; block < blocks(); ++block) {
    const double* const flags = taking_part(block);
    count += static_cast<std::uint64_t>(std::count(flags, flags + sum_lanes, 1.0));
  }
  return count;
}

StencilEquations stencil_equations(const Observations& sample, const Stencil& stencil, double bound,
                                   const Shares& before) {
  const unsigned n = sample.unknowns();
  std::vector<LaneSums> sums(n * (n + 1) / 2 + n + 1, LaneSums{});
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    const LaneSums weights = weights_of(sample, block, bound, before);
    std::size_t term = 0;
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) sums[term][lane] += weights[lane];
    for (unsigned i = 0; i < n; ++i) {
      LaneSums weighted;
      const double* const row = sample.row(block, i);
      for (std::size_t lane = 0; lane < sum_lanes; ++lane)
        weighted[lane] = weights[lane] * row[lane];
      add_products(weighted, sample.targets(block), sums[++term]);
      for (unsigned j = i; j < n; ++j) add_products(weighted, sample.row(block, j), sums[++term]);
    }
  }
  StencilEquations equations;
  equations.unknowns = n;
  std::size_t term = 0;
  for (unsigned i = 0; i < n; ++i) {
    equations.right[i] = tree_sum(sums[++term]);
    for (unsigned j = i; j < n; ++j) equations.at(i, j) = tree_sum(sums[++term]);
  }
  add_noise(stencil, tree_sum(sums[0]), bound, equations);
  return equations;
}

Coefficients fit_stencil(const Observations& sample, const Stencil& stencil,
                         const PointClass& points, double bound) {
  if (sample.used() < fewest_fit_points) return {};
  const unsigned n = sample.unknowns();
  const GroupShares preset_groups = preset_shares(points, stencil);
  Shares preset{};
  std::copy_n(preset_groups.begin() + 1, n, preset.begin());
  Shares shares = preset;
  for (int round = 0; round < fit_rounds; ++round) {
    if (!solve(stencil_equations(sample, stencil, bound, shares), ridge, shares)) return {};
  }
  Coefficients coefficients;
  for (unsigned i = 0; i < n; ++i) {
    coefficients.push_back(coefficient_of(shares[i]));
    shares[i] = static_cast<double>(coefficients.back()) / (1 << coefficient_bits);
  }
  constexpr Cost bits_per_coefficient = 11;
  const Cost side = (bits_per_coefficient * n) << cost_bits;
  const bool pays = cost_of(sample, points.points(), bound, shares) + side <
                    cost_of(sample, points.points(), bound, preset);
  return pays ? coefficients : Coefficients{};
}

}  // namespace cuszi
