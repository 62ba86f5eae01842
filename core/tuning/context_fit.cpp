#include "core/tuning/context_fit.hpp"

#include <algorithm>
#include <numeric>

#include "core/field/sparse_list.hpp"

namespace cuszi {

namespace {

void put_weights(const FeatureWeights& weights, ByteWriter& out) {
  for (const std::int16_t w : weights) out.varint(zigzag(w));
}

Cost size_of_weights(const FeatureWeights& weights) {
  ByteWriter out;
  put_weights(weights, out);
  return (out.size() * 8) << cost_bits;
}

}  // namespace

std::uint64_t context_sample(std::uint64_t points, std::uint64_t of_group) {
  const auto most = std::clamp<std::uint64_t>(of_group / 8, 2048, 8192);
  return of_group <= most ? points : ceil_div(most * points, of_group);
}

bool solve(const ContextSums& sums, FeatureWeights& weights) {
  ContextEquations equations;
  equations.unknowns = feature_count;
  for (unsigned i = 0; i < feature_count; ++i) put_row(sums, i, equations);
  std::array<double, feature_count> solution{};
  if (!solve(equations, context_ridge, solution)) return false;
  std::transform(solution.begin(), solution.end(), weights.begin(), feature_weight_of);
  return true;
}

Cost context_cost(std::vector<Counts> by_bucket, std::uint64_t points) {
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

ContextWeights choose_weights(const WeightCosts& costs, const FeatureWeights& last,
                              const FeatureWeights& own) {
  constexpr Cost a_byte = Cost{8} << cost_bits;
  const bool pays = costs.own && *costs.own + a_byte + size_of_weights(own) < costs.remembered;
  return pays ? ContextWeights{WeightsKind::own, own}
              : ContextWeights{WeightsKind::remembered, last};
}

std::vector<std::byte> write_weights(std::span<const ContextWeights> weights) {
  const bool all_remembered =
      std::all_of(weights.begin(), weights.end(),
                  [](const ContextWeights& w) { return w.kind == WeightsKind::remembered; });
  ByteWriter out;
  if (all_remembered) return out.take();
  for (const ContextWeights& w : weights) {
    out.put(w.kind);
    if (w.kind == WeightsKind::own) put_weights(w.weights, out);
  }
  return out.take();
}

template <class T>
std::vector<ContextWeights> read_weights(Bytes bytes, const FramePlan<T>& plan, const Pass& pass,
                                         RememberedWeights& remembered) {
  std::vector<ContextWeights> result;
  ByteReader in(bytes, "the context weights");
  for_each_group(plan, pass, [&](const PointClass& points) {
    FeatureWeights& last = remembered.of(points);
    ContextWeights& weights = result.emplace_back(ContextWeights{WeightsKind::remembered, last});
    if (bytes.empty()) return;
    weights.kind = in.get<WeightsKind>();
    if (weights.kind > WeightsKind::own) {
      throw ArchiveError("context weights are of an unknown kind");
    }
    if (weights.kind != WeightsKind::own) return;
    for (std::int16_t& w : weights.weights) w = static_cast<std::int16_t>(unzigzag(in.varint()));
    last = weights.weights;
  });
  in.expect_end();
  return result;
}

template std::vector<ContextWeights> read_weights(Bytes, const FramePlan<float>&, const Pass&,
                                                  RememberedWeights&);
template std::vector<ContextWeights> read_weights(Bytes, const FramePlan<double>&, const Pass&,
                                                  RememberedWeights&);

}  // namespace cuszi
