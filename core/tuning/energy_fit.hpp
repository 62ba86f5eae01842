#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/least_squares.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/ans_tables.hpp"
#include "core/multilevel/energy.hpp"

namespace cuszi {

// Which weights the energy estimates of a group of classes get: iteratively reweighted least
// squares on a sample of its points, whose targets are the magnitudes of their codes and whose
// weights fall with the square of the estimate. All sums are integers, so their order is free.

/// Where the weights of a group come from; the numbers stand in archives.
enum class WeightsKind : std::uint8_t {
  remembered = 0,  ///< the last own weights of a group of the same order, or the default
  own = 1,
  none = 2,  ///< all points in bucket 0
};

struct ContextWeights {
  WeightsKind kind = WeightsKind::remembered;
  EnergyWeights weights = default_weights;
};

/// The context of a point of a group, by the weighted sum of its features.
CUSZI_HD inline std::uint8_t context_of(const ContextWeights& weights, std::uint32_t group,
                                        std::int32_t weighted_sum) {
  const unsigned bucket = weights.kind == WeightsKind::none ? 0 : bucket_of(weighted_sum);
  return static_cast<std::uint8_t>(group * contexts_per_group + bucket);
}

/// The own weights met last, by order and whether there are enclosing slices.
class RememberedWeights {
 public:
  static constexpr std::size_t kinds = std::size_t{2} * max_axes;

  RememberedWeights() { last_.fill(default_weights); }

  static std::size_t kind_of(const PointClass& points) {
    return points.order * 2U + (points.enclosed ? 1 : 0);
  }
  EnergyWeights& of_kind(std::size_t kind) { return last_.at(kind); }
  EnergyWeights& of(const PointClass& points) { return of_kind(kind_of(points)); }
  const std::array<EnergyWeights, kinds>& all() const { return last_; }

 private:
  std::array<EnergyWeights, kinds> last_{};
};

/// How many points of a class of `points` are sampled, if its group has `of_group`.
std::uint64_t energy_sample(std::uint64_t points, std::uint64_t of_group);

/// The weight of a sample whose features have this weighted sum, 1 / (estimate + 0.03)^2 in units
/// of 2^-15 and at least one of them. It is below 2^26 and features are at most max_slope, so sums
/// over 2^14 samples stay below 2^63.
inline constexpr std::int64_t energy_fit_floor = 492;  ///< 0.03
inline constexpr std::int64_t energy_fit_scale = std::int64_t{1} << 43;

CUSZI_HD inline std::int64_t energy_fit_weight(std::int32_t weighted_sum) {
  const auto energy =
      static_cast<std::uint64_t>((weighted_sum > 0 ? weighted_sum : 0) + energy_fit_floor);
  const std::uint64_t weight =
      (std::uint64_t{energy_fit_scale} + energy * energy / 2) / (energy * energy);
  return weight != 0 ? static_cast<std::int64_t>(weight) : 1;
}

/// The normal equations of a round; of the matrix the upper triangle.
struct EnergySums {
  std::array<std::array<std::int64_t, energy_features>, energy_features> matrix{};
  std::array<std::int64_t, energy_features> right{};

  CUSZI_HD void add(const EnergyFeatures& features, std::int32_t magnitude, std::int64_t weight) {
    for (unsigned i = 0; i < energy_features; ++i) {
      const std::int64_t weighted = weight * features[i];
      right[i] += weighted * magnitude;
      for (unsigned j = i; j < energy_features; ++j) matrix[i][j] += weighted * features[j];
    }
  }
};

// The rounds of a sample's own fit, from the default weights on; one without a solution ends them.
inline constexpr int energy_fit_rounds = 3;
inline constexpr std::uint64_t fewest_energy_points = 100;  ///< that own weights are fitted to

using EnergyEquations = NormalEquations<energy_features>;
inline constexpr double energy_ridge = 1e-6;  ///< see solve()

/// The i-th row of the equations of a round.
CUSZI_HD inline void put_row(const EnergySums& sums, unsigned i, EnergyEquations& equations) {
  equations.right[i] = static_cast<double>(sums.right[i]);
  for (unsigned j = i; j < energy_features; ++j) {
    equations.at(i, j) = static_cast<double>(sums.matrix[i][j]);
  }
}

/// A weight that solves them, rounded.
CUSZI_HD inline std::int16_t energy_weight_of(double solution) {
  const double scaled = clamp_to(solution * (1 << energy_weight_bits), -32000.0, 32000.0);
  return static_cast<std::int16_t>(round_half_even(scaled));
}

/// The solution of a round, rounded; false if there is none.
bool solve(const EnergySums& sums, EnergyWeights& weights);

/// The token that a sampled magnitude counts as.
CUSZI_HD inline unsigned token_of_magnitude(std::uint8_t magnitude) {
  return token_of(SlotKind::code, 1U + magnitude, 1).token;
}

/// The cost of coding a group of `points` points, from a sample: `by_bucket` counts its tokens in
/// each bucket of the energy.
Cost energy_cost(std::vector<Counts> by_bucket, std::uint64_t points);

/// What the points of a group would cost with weights that one of its kind had last, with none, and
/// with its own, if it has some.
struct WeightCosts {
  Cost remembered = 0;
  Cost none = 0;
  std::optional<Cost> own;
};

/// Whichever costs least, with its side information.
ContextWeights choose_weights(const WeightCosts& costs, const EnergyWeights& last,
                              const EnergyWeights& own);

/// Calls each(class) for the first class of each group of a pass.
template <class T, class Each>
void for_each_group(const FramePlan<T>& plan, const Pass& pass, const Each& each) {
  std::uint32_t group = 0;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group != group) continue;
    ++group;
    each(c.points);
  }
}

/// No bytes if all groups use remembered weights.
std::vector<std::byte> write_weights(std::span<const ContextWeights> weights);
/// The weights of all groups of a pass. Throws ArchiveError.
template <class T>
std::vector<ContextWeights> read_weights(Bytes bytes, const FramePlan<T>& plan, const Pass& pass,
                                         RememberedWeights& remembered);

}  // namespace cuszi
