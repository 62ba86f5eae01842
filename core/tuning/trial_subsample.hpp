#pragma once

#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi {

/// The code positions of a pass whose codes a trial counts, each for several ones: all of a small
/// pass, else some runs of them, so that neighbours stay together and no region is missed. Contexts
/// are needed there alone.
struct TrialSubsample {
  static constexpr std::uint64_t run = 1024;
  static constexpr std::uint64_t small_pass = std::uint64_t{1} << 13;
  static constexpr std::uint64_t small_box = std::uint64_t{1} << 17;

  std::uint32_t times = 1;  ///< as many codes as each stands for

  /// The subsample of a pass of `points` points, in a trial box of `of_box` points.
  CUSZI_HD static TrialSubsample of_trial(std::uint64_t points, std::uint64_t of_box) {
    return {points > small_pass && of_box > small_box ? 2U : 1U};
  }

  CUSZI_HD bool all() const { return times == 1; }
  CUSZI_HD bool has(std::uint64_t code_position) const {
    return code_position / run % times == times / 2;
  }
  /// The i-th code position that is counted.
  CUSZI_HD std::uint64_t code_position(std::uint64_t i) const {
    return (i / run * times + times / 2) * run + i % run;
  }
  /// The number of counted code positions among the first `positions`.
  CUSZI_HD std::uint64_t size(std::uint64_t positions) const {
    const std::uint64_t period = times * run;
    const std::uint64_t before = times / 2 * run;  // of a period, those that are not counted
    const std::uint64_t rest = positions % period;
    const std::uint64_t counted = rest < before ? 0 : rest - before;
    return positions / period * run + (counted < run ? counted : run);
  }
};

}  // namespace cuszi
