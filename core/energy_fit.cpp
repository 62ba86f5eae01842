#include "core/energy_fit.hpp"

#include <algorithm>

#include "core/ans_slots.hpp"
#include "core/ans_tables.hpp"
#include "core/least_squares.hpp"
#include "core/sparse_list.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t full_sample = 8192;
constexpr std::uint64_t trial_sample = 2048;
constexpr std::size_t fewest_points = 100;
constexpr int fit_rounds = 4;
constexpr double ridge = 1e-6;

/// The weights of a sample's own fit.
EnergyWeights fit_sample(const EnergySample& sample) {
  EnergyWeights weights = default_weights;
  for (int round = 0; round < fit_rounds; ++round) {
    if (!solve(energy_sums(sample, weights), weights)) break;
  }
  return weights;
}

/// What the group would cost with the sample's buckets; contexts are told apart by `bucket_at`.
template <class BucketAt>
Cost cost_of(const EnergySample& sample, const BucketAt& bucket_at) {
  std::vector<Counts> counts(contexts_per_group, Counts{});
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const auto code = static_cast<QuantCode>(1 + sample.magnitudes[k]);
    ++counts[bucket_at(sample.features[k])][token_of(SlotKind::code, code, 1).token];
  }
  const std::uint64_t scale = std::max<std::uint64_t>(sample.points / sample.features.size(), 1);
  for (Counts& some : counts) {
    for (std::uint64_t& count : some) count *= scale;
  }
  return ContextTables::fit(counts).cost(counts);
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
  EnergySums sums;
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const EnergyFeatures& features = sample.features[k];
    sums.add(features, sample.magnitudes[k], energy_fit_weight(weighted_sum(before, features)));
  }
  return sums;
}

bool solve(const EnergySums& sums, EnergyWeights& weights) {
  NormalEquations<energy_features> equations;
  equations.unknowns = energy_features;
  for (unsigned i = 0; i < energy_features; ++i) {
    equations.right[i] = static_cast<double>(sums.right[i]);
    for (unsigned j = i; j < energy_features; ++j) {
      equations.at(i, j) = static_cast<double>(sums.matrix[i][j]);
    }
  }
  std::array<double, energy_features> solution{};
  if (!solve(equations, ridge, solution)) return false;
  for (unsigned i = 0; i < energy_features; ++i) {
    const double scaled = clamp_to(solution[i] * (1 << energy_weight_bits), -32000.0, 32000.0);
    weights[i] = static_cast<std::int16_t>(round_half_even(scaled));
  }
  return true;
}

GroupWeights choose_weights(const EnergySample& sample, const EnergyWeights& last) {
  GroupWeights best{WeightsKind::remembered, last};
  if (sample.features.empty()) return best;
  Cost lowest = cost_of(sample, last);
  const auto offer = [&](Cost cost, const GroupWeights& candidate) {
    if (cost >= lowest) return;
    lowest = cost;
    best = candidate;
  };
  constexpr Cost a_byte = Cost{8} << cost_bits;
  offer(cost_of(sample, [](const EnergyFeatures&) { return 0U; }) + a_byte,
        {WeightsKind::none, {}});
  if (sample.features.size() >= fewest_points) {
    const EnergyWeights own = fit_sample(sample);
    offer(cost_of(sample, own) + a_byte + size_of_weights(own), {WeightsKind::own, own});
  }
  return best;
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
