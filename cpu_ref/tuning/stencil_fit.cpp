#include "cpu_ref/tuning/stencil_fit.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
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

/// Sums of products of unknowns and targets, by lane, in order of blocks.
template <class Vectors>
class ProductSums {
 public:
  explicit ProductSums(const Observations& sample)
      : sample_(sample),
        rows_(sample.unknowns() + 1),
        stride_(rows_ + tile_columns),
        sums_(std::make_unique_for_overwrite<LaneSums[]>(stride_ * stride_)) {}

  void add(std::span<const double> weights) {
    for (std::size_t first = 0; first < sample_.blocks(); first += most_blocks) {
      const std::size_t count = std::min(most_blocks, sample_.blocks() - first);
      for (std::size_t lane = 0; lane < sum_lanes; lane += Vectors::doubles) {
        take_lanes(first, count, lane, weights);
        for (std::size_t i = 0; i + 1 < rows_; i += tile_rows) {
          for (std::size_t j = i; j < rows_; j += tile_columns) {
            add_tile(i, j, count, lane, first == 0);
          }
        }
      }
    }
  }

  void put(StencilEquations& equations) const {
    const unsigned n = equations.unknowns;
    for (unsigned i = 0; i < n; ++i) {
      for (unsigned j = i; j < n; ++j) equations.at(i, j) = sum(i, j);
      equations.right[i] = sum(i, n);
    }
  }

 private:
  using Doubles = typename Vectors::Doubles;

  static constexpr std::size_t most_blocks = 16;  ///< per iteration
  static constexpr std::size_t tile_rows = 2;
  static constexpr std::size_t tile_columns = 4;
  static constexpr std::size_t most_rows = Stencil::most_groups + tile_columns;

  /// Gathers rows and weighted rows.
  void take_lanes(std::size_t first, std::size_t count, std::size_t lane,
                  std::span<const double> weights) {
    for (std::size_t block = 0; block < count; ++block) {
      Doubles weight;
      std::memcpy(&weight, weights.data() + (first + block) * sum_lanes + lane, sizeof weight);
      for (unsigned i = 0; i < rows_; ++i) {
        std::memcpy(&plain_[block][i], sample_.row(first + block, i) + lane, sizeof(Doubles));
        weighted_[block][i] = weight * plain_[block][i];
      }
    }
  }

  /// Products of a tile of rows and columns, with sums in registers. Includes some unused ones.
  void add_tile(std::size_t i, std::size_t j, std::size_t count, std::size_t lane, bool is_first) {
    Doubles sums[tile_rows][tile_columns];
    for (std::size_t a = 0; a < tile_rows; ++a) {
      for (std::size_t b = 0; b < tile_columns; ++b) {
        sums[a][b] = Doubles{};
        if (!is_first) std::memcpy(&sums[a][b], lanes_of(i + a, j + b, lane), sizeof(Doubles));
      }
    }
    for (std::size_t block = 0; block < count; ++block) {
      for (std::size_t a = 0; a < tile_rows; ++a) {
        for (std::size_t b = 0; b < tile_columns; ++b) {
          sums[a][b] += weighted_[block][i + a] * plain_[block][j + b];
        }
      }
    }
    for (std::size_t a = 0; a < tile_rows; ++a) {
      for (std::size_t b = 0; b < tile_columns; ++b) {
        std::memcpy(lanes_of(i + a, j + b, lane), &sums[a][b], sizeof(Doubles));
      }
    }
  }

  /// j >= i; the last j is the target.
  double sum(std::size_t i, std::size_t j) const { return tree_sum(sums_[i * stride_ + j]); }

  double* lanes_of(std::size_t i, std::size_t j, std::size_t lane) {
    return sums_[i * stride_ + j].data() + lane;
  }

  const Observations& sample_;
  std::size_t rows_;
  std::size_t stride_;  ///< tiles exceed the rows
  std::unique_ptr<LaneSums[]> sums_;
  Doubles plain_[most_blocks][most_rows] = {};
  Doubles weighted_[most_blocks][most_rows] = {};
};

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
  with_vectors([&](auto vectors) {
    std::vector<double> weights = residuals_of(sample, before);
    noise = put_weights(sample, bound, weights);
    ProductSums<decltype(vectors)> sums(sample);
    sums.add(weights);
    sums.put(equations);
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
