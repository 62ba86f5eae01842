#include "core/stencil_fit.hpp"

#include <algorithm>

namespace cuszi {

namespace {

constexpr std::uint64_t full_sample = 8192;
constexpr std::uint64_t trial_sample = 2048;

/// Adds the products of two rows, weighted, lane by lane.
void add_products(const LaneSums& weighted, const double* row, LaneSums& sums) {
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) sums[lane] += weighted[lane] * row[lane];
}

/// What these shares leave of a block's targets.
LaneSums residuals_of(const Observations& sample, std::size_t block, const Shares& shares) {
  LaneSums residuals;
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
    residuals[lane] = sample.targets(block)[lane];
  }
  for (unsigned i = 0; i < sample.unknowns(); ++i) {
    const double* const row = sample.row(block, i);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) residuals[lane] -= shares[i] * row[lane];
  }
  return residuals;
}

Shares shares_of(const Coefficients& coefficients) {
  Shares shares{};
  std::transform(coefficients.begin(), coefficients.end(), shares.begin(), share_of);
  return shares;
}

}  // namespace

Shares preset_unknowns(const PointClass& points, const Stencil& stencil) {
  Shares shares{};
  if (stencil.size < 2) return shares;
  const GroupShares preset = preset_shares(points, stencil);
  std::copy_n(preset.begin() + 1, stencil.size - 1U, shares.begin());
  return shares;
}

std::uint64_t stencil_sample(std::uint64_t points, FitSample size) {
  return std::min(points, size == FitSample::full ? full_sample : trial_sample);
}

Observations::Observations(unsigned unknowns, std::uint64_t samples)
    : unknowns_(unknowns),
      samples_(samples),
      values_(ceil_div(samples, sum_lanes) * block_size(), 0),
      bins_(ceil_div(samples, sum_lanes) * sum_lanes, 0) {}

void Observations::set(std::uint64_t k, const Observation& seen, double bound) {
  const std::size_t block = k / sum_lanes;
  const std::size_t lane = k % sum_lanes;
  targets(block)[lane] = seen.target;
  taking_part(block)[lane] = seen.is_used ? 1 : 0;
  bins_[k] = bend_key(seen.bend, bound);
}

void Observations::make_bins() {
  BendCounts counts{};
  for (std::uint64_t k = 0; k < samples_; ++k) {
    if (taking_part(k / sum_lanes)[k % sum_lanes] != 0) ++counts[bins_[k]];
  }
  const BendBins bin_of = bins_of(counts);
  for (std::uint8_t& bin : bins_) bin = bin_of[bin];
}

std::uint64_t Observations::used() const {
  std::uint64_t count = 0;
  for (std::size_t block = 0; block < blocks(); ++block) {
    const double* const flags = taking_part(block);
    count += static_cast<std::uint64_t>(std::count(flags, flags + sum_lanes, 1.0));
  }
  return count;
}

BinScales bin_scales(const Observations& sample, double bound, const Shares& shares) {
  BinScales scales;
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    const LaneSums residuals = residuals_of(sample, block, shares);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      if (sample.taking_part(block)[lane] == 0) continue;
      const std::uint8_t bin = sample.bin(block * sum_lanes + lane);
      scales.sums[bin] += BinScales::term(residuals[lane], bound);
      ++scales.counts[bin];
    }
  }
  return scales;
}

StencilEquations stencil_equations(const Observations& sample, const Stencil& stencil, double bound,
                                   FitTo to, const Shares& before) {
  const BinScales scales = bin_scales(sample, bound, before);
  std::array<double, scale_bins> scale_of{};
  for (unsigned bin = 0; bin < scale_bins; ++bin) scale_of[bin] = bound * scales.mean(bin);
  const unsigned n = sample.unknowns();
  std::vector<LaneSums> sums(n * (n + 1) / 2 + n + 1, LaneSums{});
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    LaneSums weights = residuals_of(sample, block, before);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      weights[lane] = fit_weight(weights[lane], scale_of[sample.bin(block * sum_lanes + lane)],
                                 bound, sample.taking_part(block)[lane] != 0);
    }
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
  add_noise(stencil, tree_sum(sums[0]), bound, to, equations);
  return equations;
}

Coefficients solve_stencil(const Observations& sample, const Stencil& stencil,
                           const PointClass& points, double bound, FitTo to,
                           const Coefficients& start) {
  Shares shares = start.empty() ? preset_unknowns(points, stencil) : shares_of(start);
  for (int round = 0; round < fit_rounds(to); ++round) {
    if (!solve(stencil_equations(sample, stencil, bound, to, shares), stencil_ridge, shares))
      return {};
  }
  Coefficients coefficients(sample.unknowns());
  std::transform(shares.begin(), shares.begin() + sample.unknowns(), coefficients.begin(),
                 coefficient_of);
  return coefficients;
}

Coefficients fit_stencil(const Observations& sample, const Stencil& stencil,
                         const PointClass& points, double bound, FitTo to,
                         const Coefficients& start) {
  if (sample.used() < fewest_fit_points) return {};
  Coefficients fitted = solve_stencil(sample, stencil, points, bound, to, start);
  if (fitted.empty()) return {};
  const auto cost = [&](const Shares& shares) {
    return fit_cost(bin_scales(sample, bound, shares), points.points(), sample.used());
  };
  const bool pays =
      fit_pays(cost(shares_of(fitted)), sample.unknowns(), cost(preset_unknowns(points, stencil)));
  return pays ? fitted : Coefficients{};
}

}  // namespace cuszi
