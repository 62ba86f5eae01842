#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bytes.hpp"
#include "core/energy.hpp"
#include "core/fit_sample.hpp"

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

struct GroupWeights {
  WeightsKind kind = WeightsKind::remembered;
  EnergyWeights weights = default_weights;
};

/// The context of a point of a group, by the weighted sum of its features.
CUSZI_HD inline std::uint8_t context_of(const GroupWeights& weights, std::uint32_t group,
                                        std::int32_t weighted_sum) {
  const unsigned bucket = weights.kind == WeightsKind::none ? 0 : bucket_of(weighted_sum);
  return static_cast<std::uint8_t>(group * contexts_per_group + bucket);
}

/// The own weights met last, by order and whether there are enclosing slices.
class RememberedWeights {
 public:
  RememberedWeights() { last_.fill(default_weights); }

  EnergyWeights& of(const PointClass& points) {
    return last_.at(points.order * 2U + (points.enclosed ? 1 : 0));
  }

 private:
  std::array<EnergyWeights, std::size_t{2} * max_axes> last_{};
};

/// How many points of a class of `points` are sampled, if its group has `of_group`.
std::uint64_t energy_sample(std::uint64_t points, std::uint64_t of_group, FitSample size);

/// Sampled points of a group: what is known of them before, and their magnitudes.
struct EnergySample {
  std::vector<EnergyFeatures> features;
  std::vector<std::uint8_t> magnitudes;
  std::uint64_t points = 0;  ///< that the sample stands for
};

/// The weight of a sample whose features have this weighted sum, 1 / (estimate + 0.02)^2 in units
/// of 2^-15 and at least one of them. It is below 2^27 and features are below 2^12, so sums over
/// 2^13 samples stay below 2^63.
CUSZI_HD inline std::int64_t energy_fit_weight(std::int32_t weighted_sum) {
  constexpr std::uint64_t floor = 328;  // 0.02
  constexpr std::uint64_t scale = std::uint64_t{1} << 43;
  const std::uint64_t energy =
      (weighted_sum > 0 ? static_cast<std::uint64_t>(weighted_sum) : 0) + floor;
  const std::uint64_t weight = (scale + energy * energy / 2) / (energy * energy);
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

/// The sums of a round by the weights of the round before.
EnergySums energy_sums(const EnergySample& sample, const EnergyWeights& before);

/// The solution of a round, rounded; false if there is none.
bool solve(const EnergySums& sums, EnergyWeights& weights);

/// The weights of a group, given those that one of its kind had last: remembered, own or none,
/// whichever the sample's codes would cost least with.
GroupWeights choose_weights(const EnergySample& sample, const EnergyWeights& last);

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
std::vector<std::byte> write_weights(std::span<const GroupWeights> weights);
/// The weights of all groups of a pass. Throws ArchiveError.
template <class T>
std::vector<GroupWeights> read_weights(Bytes bytes, const FramePlan<T>& plan, const Pass& pass,
                                       RememberedWeights& remembered);

}  // namespace cuszi
