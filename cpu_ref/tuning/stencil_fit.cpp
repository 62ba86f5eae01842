#include "cpu_ref/tuning/stencil_fit.hpp"

#include <algorithm>
#include <span>

#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

namespace {

std::vector<double> residuals_of(const Observations& sample, const Shares& shares) {
  std::vector<double> residuals(sample.blocks() * sum_lanes);
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    double* const out = residuals.data() + block * sum_lanes;
    std::copy_n(sample.targets(block), sum_lanes, out);
    for (unsigned i = 0; i < sample.unknowns(); ++i) {
      const double* const row = sample.row(block, i);
      for (std::size_t lane = 0; lane < sum_lanes; ++lane) out[lane] -= shares[i] * row[lane];
    }
  }
  return residuals;
}

BinScales bin_scales(const Observations& sample, double bound, std::span<const double> residuals) {
  BinScales scales;
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    const double* const is_used = sample.taking_part(block);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      if (is_used[lane] == 0) continue;
      const std::size_t k = block * sum_lanes + lane;
      const std::uint8_t bin = sample.bin(k);
      scales.sums[bin] += BinScales::term(residuals[k], bound);
      ++scales.counts[bin];
    }
  }
  return scales;
}

/// Replaces residuals by weights. Returns the sum of weight x neighbour_noise().
double put_weights(const Observations& sample, double bound, std::span<double> residuals) {
  const BinScales scales = bin_scales(sample, bound, residuals);
  LaneSums noise{};
  std::array<double, scale_bins> scale_of{};
  for (unsigned bin = 0; bin < scale_bins; ++bin) scale_of[bin] = bound * scales.mean(bin);
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    const double* const is_used = sample.taking_part(block);
    double* const weights = residuals.data() + block * sum_lanes;
    double scale[sum_lanes];
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      scale[lane] = scale_of[sample.bin(block * sum_lanes + lane)];
    }
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      const double error = neighbour_noise(weights[lane], bound);
      weights[lane] = fit_weight(weights[lane], scale[lane], bound, is_used[lane] != 0);
      noise[lane] += weights[lane] * error;
    }
  }
  return tree_sum(noise);
}

/// Adds products of unknowns and targets, by lane, in order of blocks.
void add_products(const Observations& sample, std::span<const double> weights,
                  StencilEquations& equations) {
  const unsigned n = sample.unknowns();  // row n is the target
  std::vector<LaneSums> sums(std::size_t{n} * (n + 1));
  for (std::size_t block = 0; block < sample.blocks(); ++block) {
    for (unsigned i = 0; i < n; ++i) {
      double weighted[sum_lanes];
      for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
        weighted[lane] = weights[block * sum_lanes + lane] * sample.row(block, i)[lane];
      }
      for (unsigned j = i; j <= n; ++j) {
        const double* const row = sample.row(block, j);
        LaneSums& sum = sums[i * (n + 1) + j];
        for (std::size_t lane = 0; lane < sum_lanes; ++lane)
          sum[lane] += weighted[lane] * row[lane];
      }
    }
  }
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = i; j < n; ++j) equations.at(i, j) = tree_sum(sums[i * (n + 1) + j]);
    equations.right[i] = tree_sum(sums[i * (n + 1) + n]);
  }
}

}  // namespace

Observations::Observations(unsigned unknowns, std::uint64_t samples)
    : unknowns_(unknowns),
      samples_(samples),
      values_(ceil_div(samples, sum_lanes) * block_size(), 0),
      bins_(ceil_div(samples, sum_lanes) * sum_lanes, 0) {}

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

StencilEquations stencil_equations(const Observations& sample, const Stencil& stencil, double bound,
                                   const Shares& before) {
  StencilEquations equations;
  equations.unknowns = sample.unknowns();
  double noise = 0;
  with_wide_vectors([&] {
    std::vector<double> weights = residuals_of(sample, before);
    noise = put_weights(sample, bound, weights);
    add_products(sample, weights, equations);
  });
  for (unsigned row = 0; row < equations.unknowns; ++row) add_noise(stencil, noise, row, equations);
  return equations;
}

Coefficients fit_stencil(const Observations& sample, const Stencil& stencil,
                         const PointClass& points, double bound, std::uint64_t fewest) {
  if (sample.unknowns() == 0 || sample.used() < fewest) return {};
  Shares shares = preset_unknowns(points, stencil);
  for (int round = 0; round < fit_rounds; ++round) {
    if (!solve(stencil_equations(sample, stencil, bound, shares), stencil_ridge, shares)) return {};
  }
  Coefficients coefficients(sample.unknowns());
  std::transform(shares.begin(), shares.begin() + sample.unknowns(), coefficients.begin(),
                 coefficient_of);
  return coefficients;
}

}  // namespace cuszi::cpu
