#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/least_squares.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/ans_tables.hpp"
#include "core/multilevel/context.hpp"

namespace cuszi {

// Context weights minimise the squared error of the magnitude on a sample, reweighted by 1 /
// (weighted sum + 0.03)^2. All sums are integers, so their order does not matter.

/// Numbers of the format.
enum class WeightsKind : std::uint8_t {
  remembered = 0,  ///< the latest own weights of a group of this order, or the default
  own = 1,
};

struct ContextWeights {
  WeightsKind kind = WeightsKind::remembered;
  FeatureWeights weights = default_weights;
};

CUSZI_HD inline std::uint8_t context_of(std::uint32_t group, std::int32_t weighted_sum) {
  return static_cast<std::uint8_t>(group * contexts_per_group + bucket_of(weighted_sum));
}

/// By order and whether slices enclose the class.
class RememberedWeights {
 public:
  static constexpr std::size_t kinds = std::size_t{2} * max_axes;

  RememberedWeights() { last_.fill(default_weights); }

  static std::size_t kind_of(const PointClass& points) {
    return points.order * 2U + (points.enclosed ? 1 : 0);
  }
  FeatureWeights& of_kind(std::size_t kind) { return last_.at(kind); }
  FeatureWeights& of(const PointClass& points) { return of_kind(kind_of(points)); }
  const std::array<FeatureWeights, kinds>& all() const { return last_; }

 private:
  std::array<FeatureWeights, kinds> last_{};
};

/// Number of samples of a class with `points` of its group's `of_group` points.
std::uint64_t context_sample(std::uint64_t points, std::uint64_t of_group);

/// 1 / (weighted sum + 0.03)^2 in units of 2^-15, at least 1. Below 2^26; features are at most
/// max_slope, so sums over 2^14 samples stay below 2^63.
inline constexpr std::int64_t context_fit_floor = 492;  ///< 0.03
inline constexpr std::int64_t context_fit_scale = std::int64_t{1} << 43;

CUSZI_HD inline std::int64_t context_fit_weight(std::int32_t weighted_sum) {
  const auto expected =
      static_cast<std::uint64_t>((weighted_sum > 0 ? weighted_sum : 0) + context_fit_floor);
  const std::uint64_t weight =
      (std::uint64_t{context_fit_scale} + expected * expected / 2) / (expected * expected);
  return weight != 0 ? static_cast<std::int64_t>(weight) : 1;
}

/// Upper triangle.
struct ContextSums {
  std::array<std::array<std::int64_t, feature_count>, feature_count> matrix{};
  std::array<std::int64_t, feature_count> right{};

  CUSZI_HD void add(const Features& features, std::int32_t magnitude, std::int64_t weight) {
    for (unsigned i = 0; i < feature_count; ++i) {
      const std::int64_t weighted = weight * features[i];
      right[i] += weighted * magnitude;
      for (unsigned j = i; j < feature_count; ++j) matrix[i][j] += weighted * features[j];
    }
  }
};

// Fits start from the default weights; a singular round ends them.
inline constexpr int context_fit_rounds = 3;
inline constexpr std::uint64_t fewest_fitted_points = 100;  ///< of own weights

using ContextEquations = NormalEquations<feature_count>;
inline constexpr double context_ridge = 1e-6;

CUSZI_HD inline void put_row(const ContextSums& sums, unsigned i, ContextEquations& equations) {
  equations.right[i] = static_cast<double>(sums.right[i]);
  for (unsigned j = i; j < feature_count; ++j) {
    equations.at(i, j) = static_cast<double>(sums.matrix[i][j]);
  }
}

CUSZI_HD inline std::int16_t feature_weight_of(double solution) {
  const double scaled = clamp_to(solution * (1 << feature_weight_bits), -32000.0, 32000.0);
  return static_cast<std::int16_t>(round_half_even(scaled));
}

/// Returns false if singular.
bool solve(const ContextSums& sums, FeatureWeights& weights);

CUSZI_HD inline unsigned token_of_magnitude(std::uint8_t magnitude) {
  return token_of(SlotKind::code, 1U + magnitude, 1).token;
}

/// `by_bucket` counts the sample's tokens in each bucket.
Cost context_cost(std::vector<Counts> by_bucket, std::uint64_t points);

struct WeightCosts {
  Cost remembered = 0;
  std::optional<Cost> own;
};

/// Includes side information.
ContextWeights choose_weights(const WeightCosts& costs, const FeatureWeights& last,
                              const FeatureWeights& own);

/// Calls each(first class of a group).
template <class T, class Each>
void for_each_group(const FramePlan<T>& plan, const Pass& pass, const Each& each) {
  std::uint32_t group = 0;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group != group) continue;
    ++group;
    each(c.points);
  }
}

/// Empty if all groups use remembered weights.
std::vector<std::byte> write_weights(std::span<const ContextWeights> weights);
/// Throws ArchiveError.
template <class T>
std::vector<ContextWeights> read_weights(Bytes bytes, const FramePlan<T>& plan, const Pass& pass,
                                         RememberedWeights& remembered);

}  // namespace cuszi
