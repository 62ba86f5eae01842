#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/cost.hpp"
#include "core/field/config.hpp"

namespace cuszi {

// What the encoder tries for `multilevel`, and the thresholds by which it decides. Presets choose
// predictor and coder alone (codec/settings/presets.hpp).

/// One row per effort.
struct EffortPolicy {
  bool codes_trials;   ///< codes the best candidates in a part of the frame; else estimates decide
  bool tries_lorenzo;  ///< if the predictor is automatic
  bool follows_first;  ///< later frames take the first one's choices if they cost about as much
  bool tunes_targets;  ///< for a PSNR: tries level-wise bounds and dead zones on samples
};

constexpr EffortPolicy policy_of(Effort effort) {
  constexpr EffortPolicy fast{false, false, false, false};
  constexpr EffortPolicy normal{true, true, true, true};
  return effort == Effort::fast ? fast : normal;
}

/// Fields of few values have edges whose costs estimates miss, and Lorenzo often suits them.
constexpr EffortPolicy policy_of(Effort effort, bool has_few_values) {
  return policy_of(has_few_values ? Effort::normal : effort);
}

namespace policy {

// The part of a frame that trials code.
inline constexpr std::uint64_t usual_part = std::uint64_t{1} << 19;  ///< points
/// Larger frames are tried in several boxes, spread over the frame.
inline constexpr std::uint64_t vast_frame = std::uint64_t{1} << 24;
inline constexpr std::uint64_t boxes_in_frame = 128;  ///< a box has this share of the points
inline constexpr std::uint64_t largest_box = std::uint64_t{1} << 18;
/// Coding smaller frames again is cheap: all candidates are tried.
inline constexpr std::uint64_t few_values = std::uint64_t{1} << 17;
/// The size of smaller trials is not representative.
inline constexpr std::uint64_t least_bytes = 1024;

// Bits per value by sampled costs.
inline constexpr Cost bit = Cost{1} << cost_bits;
inline constexpr Cost few_bits = bit / 24;        ///< tight bounds of coarse levels do not pay
inline constexpr Cost dense_bits = 9 * bit / 10;  ///< half of the part is representative
inline constexpr Cost many_bits = 3 * bit / 2;    ///< estimates tell whether equal bounds pay
inline constexpr Cost enough_bits = 2 * bit;      ///< and are certain

// Candidates within a margin of the lowest sampled cost are coded.
inline constexpr std::size_t most_finalists = 2;
/// Boxes with three axes have few levels: samples of the frame tell more, within 1 / this.
inline constexpr Cost shallow_margin = 32;
/// Below a bit per value, contexts and runs of zeros decide, which estimates do not model. Trials
/// of a part cost less than those of a frame, so their margin is wider.
constexpr Cost margin_above(Cost lowest, std::uint64_t values, bool is_whole) {
  const Cost of_frame = lowest / 6 < values * bit / 12 ? lowest / 6 : values * bit / 12;
  return is_whole || of_frame > lowest / 16 ? of_frame : lowest / 16;
}

// Level-wise bounds.
/// Equal bounds are clearly worse if they add 1 / this to the sampled cost.
inline constexpr Cost clearly_dearer = 64;

// Lorenzo: a single finalist is not coded if Lorenzo takes 1 / this more than its estimate.
inline constexpr std::uint64_t surely_more = 4;
inline constexpr std::uint64_t surely_more_if_dense = 8;

}  // namespace policy

}  // namespace cuszi
