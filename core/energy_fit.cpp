#include "core/energy_fit.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/sparse_list.hpp"
#include "core/wide_vectors.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t full_sample = 16384;
constexpr std::uint64_t trial_sample = 2048;

/// A sample feature by feature, so that loops over its points vectorise; without the features that
/// no point has, what these add to sums is 0.
class SampleColumns {
 public:
  explicit SampleColumns(const EnergySample& sample)
      : sample_(sample), points_(sample.features.size()) {
    EnergyFeatures any{};
    for (const EnergyFeatures& features : sample.features) {
      for (unsigned i = 0; i < energy_features; ++i) any[i] |= features[i];
    }
    for (unsigned i = 0; i < energy_features; ++i) {
      if (any[i] != 0) used_.push_back(i);
    }
    columns_.resize((used_.size() + 1) * points_);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (std::size_t k = 0; k < points_; ++k) {
        columns_[i * points_ + k] = static_cast<std::uint32_t>(sample.features[k][used_[i]]);
      }
    }
    std::copy(sample.magnitudes.begin(), sample.magnitudes.end(),
              columns_.begin() + static_cast<std::ptrdiff_t>(used_.size() * points_));
  }

  EnergySums sums(const EnergyWeights& before) const {
    std::vector<std::vector<std::uint64_t>> found(used_.size());
    for (std::size_t i = 0; i < used_.size(); ++i) found[i].resize(used_.size() + 1);
    with_wide_vectors([&] {
      std::array<std::int32_t, chunk> estimates;
      std::array<std::uint32_t, chunk> weights;
      for (std::size_t first = 0; first < points_; first += chunk) {
        const std::size_t count = std::min(chunk, points_ - first);
        estimate(before, first, count, estimates.data());
        for (std::size_t k = 0; k < count; ++k) {
          weights[k] = energy_fit_weight_by_doubles(estimates[k]);
        }
        for (std::size_t i = 0; i < used_.size(); ++i) {
          for (std::size_t j = i; j <= used_.size(); ++j) {
            found[i][j] += sum_of_products(first, i, j, count, weights.data());
          }
        }
      }
    });
    EnergySums sums;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      sums.right.at(used_[i]) = static_cast<std::int64_t>(found[i][used_.size()]);
      for (std::size_t j = i; j < used_.size(); ++j) {
        sums.matrix.at(used_[i]).at(used_[j]) = static_cast<std::int64_t>(found[i][j]);
      }
    }
    return sums;
  }

  /// What the group would cost with contexts by these weights.
  Cost cost(const EnergyWeights& weights) const {
    std::vector<Counts> counts(contexts_per_group, Counts{});
    std::array<std::int32_t, chunk> estimates;
    for (std::size_t first = 0; first < points_; first += chunk) {
      const std::size_t count = std::min(chunk, points_ - first);
      with_wide_vectors([&] { estimate(weights, first, count, estimates.data()); });
      for (std::size_t k = 0; k < count; ++k) {
        ++counts[bucket_of(estimates[k])][token_of_magnitude(sample_.magnitudes[first + k])];
      }
    }
    return energy_cost(std::move(counts), sample_.points);
  }

 private:
  static constexpr std::size_t chunk = 512;  ///< points that are worked on at a time

  /// weighted_sum() of some points.
  void estimate(const EnergyWeights& weights, std::size_t first, std::size_t count,
                std::int32_t* sums) const {
    std::fill_n(sums, count, 0);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const std::int32_t weight = weights[used_[i]];
      const std::uint32_t* const column = columns_.data() + i * points_ + first;
      for (std::size_t k = 0; k < count; ++k) {
        sums[k] += weight * static_cast<std::int32_t>(column[k]);
      }
    }
  }

  /// Products of features have at most 24 bits, weights 26.
  std::uint64_t sum_of_products(std::size_t first, std::size_t i, std::size_t j, std::size_t count,
                                const std::uint32_t* weights) const {
    const std::uint32_t* const a = columns_.data() + i * points_ + first;
    const std::uint32_t* const b = columns_.data() + j * points_ + first;
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += std::uint64_t{a[k] * b[k]} * weights[k];
    return sum;
  }

  const EnergySample& sample_;
  std::size_t points_;
  std::vector<unsigned> used_;          ///< features
  std::vector<std::uint32_t> columns_;  ///< of these, then of the magnitudes
};

/// The weights of a sample's own fit.
EnergyWeights fit_sample(const SampleColumns& sample) {
  EnergyWeights weights = default_weights;
  for (int round = 0; round < energy_fit_rounds; ++round) {
    if (!solve(sample.sums(weights), weights)) break;
  }
  return weights;
}

void put_weights(const EnergyWeights& weights, ByteWriter& out) {
  for (const std::int16_t w : weights) out.varint(zigzag(w));
}

Cost size_of_weights(const EnergyWeights& weights) {
  ByteWriter out;
  put_weights(weights, out);
  return (out.size() * 8) << cost_bits;
}

}  // namespace

std::uint64_t energy_sample(std::uint64_t points, std::uint64_t of_group, FitSample size) {
  const std::uint64_t most = size == FitSample::full ? full_sample : trial_sample;
  return of_group <= most ? points : ceil_div(most * points, of_group);
}

EnergySums energy_sums(const EnergySample& sample, const EnergyWeights& before) {
  return SampleColumns(sample).sums(before);
}

bool solve(const EnergySums& sums, EnergyWeights& weights) {
  EnergyEquations equations;
  equations.unknowns = energy_features;
  for (unsigned i = 0; i < energy_features; ++i) put_row(sums, i, equations);
  std::array<double, energy_features> solution{};
  if (!solve(equations, energy_ridge, solution)) return false;
  std::transform(solution.begin(), solution.end(), weights.begin(), energy_weight_of);
  return true;
}

Cost energy_cost(std::vector<Counts> by_bucket, std::uint64_t points) {
  std::uint64_t samples = 0;
  for (const Counts& counts : by_bucket) {
    samples += std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  const std::uint64_t scale = std::max<std::uint64_t>(points / samples, 1);
  for (Counts& counts : by_bucket) {
    for (std::uint64_t& count : counts) count *= scale;
  }
  return ContextTables::fit(by_bucket).cost(by_bucket);
}

GroupWeights choose_weights(const WeightCosts& costs, const EnergyWeights& last,
                            const EnergyWeights& own) {
  GroupWeights best{WeightsKind::remembered, last};
  Cost lowest = costs.remembered;
  const auto offer = [&](Cost cost, const GroupWeights& candidate) {
    if (cost >= lowest) return;
    lowest = cost;
    best = candidate;
  };
  constexpr Cost a_byte = Cost{8} << cost_bits;
  offer(costs.none + a_byte, {WeightsKind::none, {}});
  if (costs.own) offer(*costs.own + a_byte + size_of_weights(own), {WeightsKind::own, own});
  return best;
}

GroupWeights choose_weights(const EnergySample& sample, const EnergyWeights& last) {
  if (sample.features.empty()) return {WeightsKind::remembered, last};
  const SampleColumns columns(sample);
  WeightCosts costs;
  costs.remembered = columns.cost(last);
  costs.none = columns.cost({});
  EnergyWeights own{};
  if (sample.features.size() >= fewest_energy_points) {
    own = fit_sample(columns);
    costs.own = columns.cost(own);
  }
  return choose_weights(costs, last, own);
}

std::vector<std::byte> write_weights(std::span<const GroupWeights> weights) {
  const bool all_remembered =
      std::all_of(weights.begin(), weights.end(),
                  [](const GroupWeights& w) { return w.kind == WeightsKind::remembered; });
  ByteWriter out;
  if (all_remembered) return out.take();
  for (const GroupWeights& w : weights) {
    out.put(w.kind);
    if (w.kind == WeightsKind::own) put_weights(w.weights, out);
  }
  return out.take();
}

template <class T>
std::vector<GroupWeights> read_weights(Bytes bytes, const FramePlan<T>& plan, const Pass& pass,
                                       RememberedWeights& remembered) {
  std::vector<GroupWeights> result;
  ByteReader in(bytes, "the context weights");
  for_each_group(plan, pass, [&](const PointClass& points) {
    EnergyWeights& last = remembered.of(points);
    GroupWeights& weights = result.emplace_back(GroupWeights{WeightsKind::remembered, last});
    if (bytes.empty()) return;
    weights.kind = in.get<WeightsKind>();
    if (weights.kind > WeightsKind::none) {
      throw ArchiveError("context weights are of an unknown kind");
    }
    if (weights.kind != WeightsKind::own) return;
    for (std::int16_t& w : weights.weights) w = static_cast<std::int16_t>(unzigzag(in.varint()));
    last = weights.weights;
  });
  in.expect_end();
  return result;
}

template std::vector<GroupWeights> read_weights(Bytes, const FramePlan<float>&, const Pass&,
                                                RememberedWeights&);
template std::vector<GroupWeights> read_weights(Bytes, const FramePlan<double>&, const Pass&,
                                                RememberedWeights&);

}  // namespace cuszi
