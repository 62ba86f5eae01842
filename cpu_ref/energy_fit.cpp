#include "cpu_ref/energy_fit.hpp"

#include "core/ans.hpp"
#include "core/least_squares.hpp"
#include "core/sparse_list.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t full_sample = 8192;
constexpr std::uint64_t trial_sample = 2048;
constexpr std::size_t fewest_points = 100;
constexpr int fit_rounds = 4;
constexpr double ridge = 1e-6;
constexpr double energy_floor = 0.02;

/// Sampled points of a group: what is known of them before, and their magnitudes.
struct EnergySample {
  std::vector<EnergyFeatures> features;
  std::vector<std::uint8_t> magnitudes;
  std::uint64_t points = 0;  ///< that the sample stands for
};

/// The coordinates, in steps, of the i-th point of a class in raster order.
Index4 steps_of(const PointClass& points, std::uint64_t i) {
  Index4 j{};
  for (unsigned axis = max_axes; axis-- > 0;) {
    j[axis] = i % points.count[axis];
    i /= points.count[axis];
  }
  return j;
}

template <class T>
EnergySample sample_group(const MultilevelParams& params, const Grid& grid, const Pass& pass,
                          std::uint32_t group, const Known<T>& known, const Mask& mask,
                          std::uint64_t most_points) {
  EnergySample sample;
  for (const PointClass& points : pass.classes) {
    if (points.group == group) sample.points += points.points();
  }
  for (const PointClass& points : pass.classes) {
    if (points.group != group) continue;
    const RowEnergy<T> energy(params, grid, points);
    const std::uint64_t all = points.points();
    const std::uint64_t wanted =
        sample.points <= most_points ? all : ceil_div(most_points * all, sample.points);
    for (std::uint64_t k = 0; k < wanted; ++k) {
      const Index4 j = steps_of(points, wanted == all ? k : sample_point(k, all));
      const Row row = make_row(points, grid, j, j[3] + 1);
      if (mask.any() && mask(row.offset)) continue;
      sample.features.push_back(energy.features(known, row, 0));
      sample.magnitudes.push_back(known.magnitudes[row.offset]);
    }
  }
  return sample;
}

EnergyWeights to_integers(const std::vector<double>& weights) {
  EnergyWeights result{};
  for (unsigned i = 0; i < energy_features; ++i) {
    const double scaled = weights[i] * (1 << energy_weight_bits);
    result[i] = static_cast<std::int16_t>(round_half_even(clamp_to(scaled, -32000.0, 32000.0)));
  }
  return result;
}

EnergyWeights fit_sample(const EnergySample& sample, const EnergyWeights& start) {
  std::vector<double> weights(start.begin(), start.end());
  for (double& w : weights) w /= 1 << energy_weight_bits;
  for (int round = 0; round < fit_rounds; ++round) {
    NormalEquations equations(energy_features);
    for (std::size_t k = 0; k < sample.features.size(); ++k) {
      std::array<double, energy_features> row{};
      double energy = 0;
      for (unsigned i = 0; i < energy_features; ++i) {
        row[i] = sample.features[k][i];
        energy += weights[i] * row[i];
      }
      energy = (energy > 0 ? energy : 0) + energy_floor;
      equations.add(row.data(), sample.magnitudes[k], 1 / (energy * energy));
    }
    const auto solution = equations.solve(ridge);
    if (!solution) break;
    weights = *solution;
  }
  return to_integers(weights);
}

/// What the group would cost with the sample's buckets; contexts are told apart by `bucket_at`.
template <class BucketAt>
Cost cost_of(const EnergySample& sample, const BucketAt& bucket_at) {
  std::vector<Counts> counts(contexts_per_group, Counts{});
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const auto code = static_cast<QuantCode>(1 + sample.magnitudes[k]);
    ++counts[bucket_at(sample.features[k])][token_of(code, 1).token];
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
    const EnergyWeights own = fit_sample(sample, last);
    offer(cost_of(sample, own) + a_byte + size_of_weights(own), {WeightsKind::own, own});
  }
  return best;
}

/// Calls each(group, the weights that classes of its kind used last) for all groups of a pass.
template <class Each>
void for_each_group(const Pass& pass, RememberedWeights& remembered, const Each& each) {
  std::uint32_t group = 0;
  for (const PointClass& points : pass.classes) {
    if (points.group < group) continue;
    group = points.group + 1;
    each(points.group, remembered.of(points));
  }
}

}  // namespace

template <class T>
std::vector<GroupWeights> fit_weights(const MultilevelParams& params, const Grid& grid,
                                      const Pass& pass, const Known<T>& known, const Mask& mask,
                                      FitSample size, RememberedWeights& remembered) {
  const std::uint64_t most_points = size == FitSample::full ? full_sample : trial_sample;
  std::vector<GroupWeights> result(pass.groups);
  for_each_group(pass, remembered, [&](std::uint32_t group, EnergyWeights& last) {
    GroupWeights& weights = result[group];
    weights =
        choose_weights(sample_group(params, grid, pass, group, known, mask, most_points), last);
    if (weights.kind == WeightsKind::own) last = weights.weights;
  });
  return result;
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

std::vector<GroupWeights> read_weights(Bytes bytes, const Pass& pass,
                                       RememberedWeights& remembered) {
  std::vector<GroupWeights> result(pass.groups);
  ByteReader in(bytes, "the context weights");
  for_each_group(pass, remembered, [&](std::uint32_t group, EnergyWeights& last) {
    GroupWeights& weights = result[group];
    weights.weights = last;
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

template std::vector<GroupWeights> fit_weights(const MultilevelParams&, const Grid&, const Pass&,
                                               const Known<float>&, const Mask&, FitSample,
                                               RememberedWeights&);
template std::vector<GroupWeights> fit_weights(const MultilevelParams&, const Grid&, const Pass&,
                                               const Known<double>&, const Mask&, FitSample,
                                               RememberedWeights&);

}  // namespace cuszi::cpu
