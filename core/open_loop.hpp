#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "core/quantizer.hpp"
#include "core/schedule.hpp"
#include "core/stencil_fit.hpp"

namespace cuszi {

// What parameters of `multilevel` would cost, without coding anything: sampled points of every
// class are predicted from originals by stencils fitted to the sample itself, and their errors are
// summed up, apart for how much their neighbours disagree, since a coder knows that. No point waits
// for another, so that all classes of all candidates can be looked at side by side. What the
// neighbours' own errors add follows from the sums, level by level.

/// Errors are in so many parts of the half step of level 1.
inline constexpr double error_sizes_per_bound = 256;
/// Points are told apart by the octave of how much their neighbours disagree.
inline constexpr int disagreements = 24;

/// |x| in these parts, as an integer.
CUSZI_HD inline std::uint64_t error_size(double x, double half_step) {
  constexpr double most = 1e9;
  return static_cast<std::uint64_t>(
      clamp_to(magnitude_of(x) / half_step * error_sizes_per_bound, 0.0, most));
}

CUSZI_HD inline int disagreement_of(std::uint64_t size) {
  const auto bits = static_cast<int>(std::bit_width(size));
  return bits < disagreements ? bits : disagreements - 1;
}

/// What the sample of a class tells.
struct ClassErrors {
  struct Some {
    std::uint64_t count = 0;
    std::uint64_t size = 0;  ///< the sum of their error_size()
  };
  std::array<Some, disagreements> errors{};
  Coefficients coefficients;  ///< that the errors are of, fitted to the sample; or none
  double noise_gain = 0;      ///< what the neighbours' variance becomes in the prediction
};

/// One sampled point (see observe()); without neighbours it is predicted as `rest`.
template <class T>
CUSZI_HD inline Observation observe_in_open_loop(const Stencil& stencil, T rest,
                                                 const PointAt<const T*>& p, double* row,
                                                 std::size_t stride) {
  Observation seen = observe(stencil, p, *p.value, row, stride);
  if (seen.is_used && stencil.size == 0) seen.target -= static_cast<double>(rest);
  return seen;
}

/// How many points of a class are looked at.
std::uint64_t open_loop_sample(std::uint64_t points, std::uint64_t all_points);

/// The errors of a sample with coefficients fitted to it, if it is large enough, else with the
/// preset. `bound` is the half step of the class's level, `half_step` that of level 1.
ClassErrors errors_of(const Observations& sample, const Stencil& stencil, const PointClass& points,
                      double bound, double half_step);

/// About what all points cost with the level-wise bounds of these parameters; the classes are those
/// of the schedule that their lattice makes.
Cost open_loop_cost(const MultilevelParams& params, std::span<const ClassErrors> classes);

/// The coefficients for the classes of another lattice, of a part of the frame: those found for the
/// same odd axes and distances and as many groups; none where there are no such ones.
std::vector<Coefficients> coefficients_for(const Lattice& part, const MultilevelParams& params,
                                           std::span<const ClassErrors> classes);

}  // namespace cuszi
