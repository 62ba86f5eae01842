#pragma once

#include <span>
#include <vector>

#include "core/multilevel/code_position.hpp"
#include "core/tuning/context_fit.hpp"
#include "core/tuning/stencil_fit.hpp"

namespace cuszi::test {

/// What core's functions of one point of `multilevel` say of it, in the order of a pass.
template <class T>
struct PointSteps {
  Index4 at;
  std::uint64_t code_position;
  T prediction;
  Features features;
  std::uint8_t context;
  Observation observed;
  Shares observation;
};

/// The point that stands at `code_position` of the class.
template <class T>
CUSZI_HD inline PointSteps<T> steps_of(const Grid& grid, const ClassPlan<T>& plan,
                                       const ContextWeights& weights, std::uint64_t code_position,
                                       const T* values, const std::uint8_t* magnitudes) {
  PointSteps<T> steps{};
  const Index4 j = point_at_code_position(grid, plan.points, code_position);
  steps.at = position_of(plan.points, j);
  steps.code_position = code_position_of(grid, plan.points, j);
  const std::uint64_t offset = offset_of(grid, steps.at);
  const PointAt<const T*> p{grid, plan.points, steps.at, values + offset};
  steps.prediction = prediction(plan, p);
  steps.features = features_of(plan, p, magnitudes + offset);
  steps.context = context_of(plan.points.group, weighted_sum(weights.weights, steps.features));
  if (plan.stencil.size > 1) {
    steps.observed = observe(plan.stencil, p, *p.value, steps.observation.data(), 1);
  }
  return steps;
}

/// The shares and the stored coefficients that a round's equations give.
struct SolvedRound {
  bool is_solved;
  Shares shares;
  std::array<std::int16_t, most_unknowns> coefficients;
};

CUSZI_HD inline SolvedRound solve_round(const StencilEquations& equations) {
  SolvedRound round{};
  round.is_solved = solve(equations, 1e-7, round.shares);
  for (unsigned i = 0; i < equations.unknowns && round.is_solved; ++i) {
    round.coefficients[i] = coefficient_of(round.shares[i]);
  }
  return round;
}

// Steps of core in kernels, one thread per point. They throw DeviceError.

template <class T>
std::vector<PointSteps<T>> steps_on_device(const Grid& grid, const ClassPlan<T>& plan,
                                           const ContextWeights& weights, std::span<const T> values,
                                           std::span<const std::uint8_t> magnitudes);
SolvedRound solve_on_device(const StencilEquations& equations);
/// The sums of a round of a context fit, samples spread over threads in no order.
ContextSums context_sums_on_device(std::span<const Features> features,
                                   std::span<const std::uint8_t> magnitudes,
                                   const FeatureWeights& before);

}  // namespace cuszi::test
