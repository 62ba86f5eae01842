#include "core/energy_fit.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/sparse_list.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t full_sample = 16384;
constexpr std::uint64_t trial_sample = 2048;

/// Features that some point of a sample has: what the others add to sums is 0.
struct FeaturesInUse {
  std::array<unsigned, energy_features> which{};
  std::size_t count = 0;

  explicit FeaturesInUse(const EnergySample& sample) {
    EnergyFeatures any{};
    for (const EnergyFeatures& features : sample.features) {
      for (unsigned i = 0; i < energy_features; ++i) any[i] |= features[i];
    }
    for (unsigned i = 0; i < energy_features; ++i) {
      if (any[i] != 0) which.at(count++) = i;
    }
  }
};

/// EnergySums of so many features in use.
template <std::size_t count>
EnergySums sums_of(const EnergySample& sample, const EnergyWeights& before,
                   const FeaturesInUse& used) {
  std::array<std::array<std::int64_t, count>, count> matrix{};
  std::array<std::int64_t, count> right{};
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const EnergyFeatures& features = sample.features[k];
    const std::int64_t weight = energy_fit_weight(weighted_sum(before, features));
    std::array<std::int64_t, count> f{};
    for (std::size_t i = 0; i < count; ++i) f[i] = features[used.which[i]];
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t weighted = weight * f[i];
      right[i] += weighted * sample.magnitudes[k];
      for (std::size_t j = i; j < count; ++j) matrix[i][j] += weighted * f[j];
    }
  }
  EnergySums sums;
  for (std::size_t i = 0; i < count; ++i) {
    sums.right.at(used.which[i]) = right[i];
    for (std::size_t j = i; j < count; ++j) {
      sums.matrix.at(used.which[i]).at(used.which[j]) = matrix[i][j];
    }
  }
  return sums;
}

using SumsOf = EnergySums (*)(const EnergySample&, const EnergyWeights&, const FeaturesInUse&);

template <std::size_t... counts>
constexpr std::array<SumsOf, sizeof...(counts)> sums_by_count(std::index_sequence<counts...>) {
  return {sums_of<counts>...};
}

/// The weights of a sample's own fit.
EnergyWeights fit_sample(const EnergySample& sample) {
  EnergyWeights weights = default_weights;
  for (int round = 0; round < energy_fit_rounds; ++round) {
    if (!solve(energy_sums(sample, weights), weights)) break;
  }
  return weights;
}

/// What the group would cost with the sample's buckets; contexts are told apart by `bucket_at`.
template <class BucketAt>
Cost cost_of(const EnergySample& sample, const BucketAt& bucket_at) {
  std::vector<Counts> counts(contexts_per_group, Counts{});
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    ++counts[bucket_at(sample.features[k])][token_of_magnitude(sample.magnitudes[k])];
  }
  return energy_cost(std::move(counts), sample.points);
}

Cost cost_of(const EnergySample& sample, const EnergyWeights& weights) {
  return cost_of(sample,
                 [&](const EnergyFeatures& f) { return bucket_of(weighted_sum(weights, f)); });
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
  static constexpr auto by_count = sums_by_count(std::make_index_sequence<energy_features + 1>{});
  const FeaturesInUse used(sample);
  return by_count.at(used.count)(sample, before, used);
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
  WeightCosts costs;
  costs.remembered = cost_of(sample, last);
  costs.none = cost_of(sample, [](const EnergyFeatures&) { return 0U; });
  EnergyWeights own{};
  if (sample.features.size() >= fewest_energy_points) {
    own = fit_sample(sample);
    costs.own = cost_of(sample, own);
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
