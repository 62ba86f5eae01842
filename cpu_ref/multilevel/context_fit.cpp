#include "cpu_ref/multilevel/context_fit.hpp"

#include <array>
#include <utility>

#include "core/tuning/fit_sample.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

namespace {

/// Samples a class of the group.
template <class T>
void add_class(const Grid& grid, const ClassPlan<T>& c, const Known<T>& known, const Mask& mask,
               std::uint64_t wanted, ContextSample& sample) {
  const std::uint64_t all = c.points.points();
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const Index4 at = position_of(c.points, raster_point(c.points, sampled_point(k, wanted, all)));
    const std::uint64_t point = offset_of(grid, at);
    if (mask.any() && mask(point)) continue;
    const PointAt<const T*> p{grid, c.points, at, known.values + point};
    sample.features.push_back(features_of(c, p, known.magnitudes + point));
    sample.magnitudes.push_back(known.magnitudes[point]);
  }
}

template <class T>
ContextSample sample_group(const FramePlan<T>& plan, const Pass& pass, std::uint32_t group,
                           const Known<T>& known, const Mask& mask) {
  ContextSample sample;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) sample.points += c.points.points();
  }
  const auto wanted = [&](const ClassPlan<T>& c) {
    return context_sample(c.points.points(), sample.points);
  };
  std::uint64_t samples = 0;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) samples += wanted(c);
  }
  sample.features.reserve(samples);
  sample.magnitudes.reserve(samples);
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) add_class(plan.grid, c, known, mask, wanted(c), sample);
  }
  return sample;
}

std::array<std::uint8_t, max_magnitude + 1> tokens_of_magnitudes() {
  std::array<std::uint8_t, max_magnitude + 1> tokens{};
  for (unsigned m = 0; m < tokens.size(); ++m) {
    tokens.at(m) = static_cast<std::uint8_t>(token_of_magnitude(static_cast<std::uint8_t>(m)));
  }
  return tokens;
}

/// Features by column, for vectorised loops. Features that are 0 everywhere are left out.
class SampleColumns {
 public:
  explicit SampleColumns(const ContextSample& sample)
      : sample_(sample), points_(sample.features.size()) {
    Features any{};
    for (const Features& features : sample.features) {
      for (unsigned i = 0; i < feature_count; ++i) any[i] |= features[i];
    }
    for (unsigned i = 0; i < feature_count; ++i) {
      if (any[i] != 0) used_.push_back(i);
    }
    columns_.resize((used_.size() + 1) * points_);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (std::size_t k = 0; k < points_; ++k) {
        columns_[i * points_ + k] = sample.features[k][used_[i]];
      }
    }
    std::copy(sample.magnitudes.begin(), sample.magnitudes.end(),
              columns_.begin() + static_cast<std::ptrdiff_t>(used_.size() * points_));
  }

  ContextSums sums(const FeatureWeights& before) const {
    ColumnSums found;
    with_wide_vectors([&] {
      for (std::size_t first = 0; first < points_; first += chunk) add_chunk(before, first, found);
    });
    ContextSums sums;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      sums.right.at(used_[i]) = found.sum(i, used_.size());
      for (std::size_t j = i; j < used_.size(); ++j) {
        sums.matrix.at(used_[i]).at(used_[j]) = found.sum(i, j);
      }
    }
    return sums;
  }

  /// Cost of the group with contexts by these weights.
  Cost cost(const FeatureWeights& weights) const {
    std::vector<Counts> counts(contexts_per_group, Counts{});
    static const auto tokens = tokens_of_magnitudes();
    std::array<std::uint8_t, chunk> buckets;
    for (std::size_t first = 0; first < points_; first += chunk) {
      const std::size_t count = std::min(chunk, points_ - first);
      with_wide_vectors([&] {
        std::int32_t estimates[chunk];
        estimate(weights, first, estimates);
        std::uint8_t* const out = buckets.data();
#pragma omp simd
        for (std::size_t k = 0; k < chunk; ++k) out[k] = bucket_by_exponent(estimates[k]);
      });
      for (std::size_t k = 0; k < count; ++k) {
        ++counts[buckets[k]][tokens[sample_.magnitudes[first + k]]];
      }
    }
    return context_cost(std::move(counts), sample_.points);
  }

 private:
  static constexpr std::size_t chunk = 256;  ///< points per iteration
  static constexpr std::size_t most_rows = feature_count + 1;

  // Weights have 26 bits, products of features at most 24. Summing the halves of weights separately
  // keeps sums over 2^14 points exact in doubles, which multiply faster than 64-bit integers.
  static constexpr int half = 1 << 13;

  struct ColumnSums {
    double high[most_rows][most_rows] = {};
    double low[most_rows][most_rows] = {};

    std::int64_t sum(std::size_t i, std::size_t j) const {
      return static_cast<std::int64_t>(high[i][j]) * half + static_cast<std::int64_t>(low[i][j]);
    }
  };

  /// Weighted sums of a chunk, padded with 0.
  void estimate(const FeatureWeights& weights, std::size_t first, std::int32_t* sums) const {
    const std::size_t count = std::min(chunk, points_ - first);
    std::fill_n(sums, chunk, 0);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const std::int32_t weight = weights[used_[i]];
      const std::int32_t* const column = columns_.data() + i * points_ + first;
#pragma omp simd
      for (std::size_t k = 0; k < count; ++k) sums[k] += weight * column[k];
    }
  }

  void add_chunk(const FeatureWeights& before, std::size_t first, ColumnSums& found) const {
    const std::size_t count = std::min(chunk, points_ - first);
    double rows[most_rows][chunk];
    for (std::size_t i = 0; i <= used_.size(); ++i) {
      const std::int32_t* const column = columns_.data() + i * points_ + first;
      for (std::size_t k = 0; k < count; ++k) rows[i][k] = column[k];
      std::fill(rows[i] + count, rows[i] + chunk, 0.0);
    }
    std::int32_t estimates[chunk];
    estimate(before, first, estimates);
    double high[chunk];
    double low[chunk];
#pragma omp simd
    for (std::size_t k = 0; k < chunk; ++k) {
      const auto weight = static_cast<std::int32_t>(context_fit_weight(estimates[k]));
      const std::int32_t halves = weight / half;
      high[k] = halves;
      low[k] = weight - halves * half;
    }
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (std::size_t j = i; j <= used_.size(); ++j) {
        double of_high = 0;
        double of_low = 0;
#pragma omp simd reduction(+ : of_high, of_low)
        for (std::size_t k = 0; k < chunk; ++k) {
          const double product = rows[i][k] * rows[j][k];
          of_high += high[k] * product;
          of_low += low[k] * product;
        }
        found.high[i][j] += of_high;
        found.low[i][j] += of_low;
      }
    }
  }

  const ContextSample& sample_;
  std::size_t points_;
  std::vector<unsigned> used_;         ///< indices of features
  std::vector<std::int32_t> columns_;  ///< used features, then magnitudes
};

FeatureWeights fit_sample(const SampleColumns& sample) {
  FeatureWeights weights = default_weights;
  for (int round = 0; round < context_fit_rounds; ++round) {
    if (!solve(sample.sums(weights), weights)) break;
  }
  return weights;
}

ContextWeights choose_weights(const ContextSample& sample, const FeatureWeights& last) {
  if (sample.features.empty()) return {WeightsKind::remembered, last};
  const SampleColumns columns(sample);
  WeightCosts costs;
  costs.remembered = columns.cost(last);
  FeatureWeights own{};
  if (sample.features.size() >= fewest_fitted_points) {
    own = fit_sample(columns);
    costs.own = columns.cost(own);
  }
  return choose_weights(costs, last, own);
}

}  // namespace

ContextSums context_sums(const ContextSample& sample, const FeatureWeights& before) {
  return SampleColumns(sample).sums(before);
}

template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered) {
  std::vector<ContextWeights> weights;
  for_each_group(plan, pass, [&](const PointClass& first) {
    FeatureWeights& last = remembered.of(first);
    weights.push_back(choose_weights(sample_group(plan, pass, first.group, known, mask), last));
    if (weights.back().kind == WeightsKind::own) last = weights.back().weights;
  });
  return weights;
}

template std::vector<ContextWeights> fit_weights(const FramePlan<float>&, const Pass&,
                                                 const Known<float>&, const Mask&,
                                                 RememberedWeights&);
template std::vector<ContextWeights> fit_weights(const FramePlan<double>&, const Pass&,
                                                 const Known<double>&, const Mask&,
                                                 RememberedWeights&);

}  // namespace cuszi::cpu
