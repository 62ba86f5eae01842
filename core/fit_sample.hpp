#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "core/sample.hpp"

namespace cuszi {

/// How many points a fit looks at: what compares trials needs fewer than what is to be stored.
enum class FitSample : std::uint8_t { full, trial };

/// The k-th of `wanted` sampled points among `all`, which are all or hashed ones.
CUSZI_HD inline std::uint64_t sampled_point(std::uint64_t k, std::uint64_t wanted,
                                            std::uint64_t all) {
  return wanted == all ? k : sample_point(k, all);
}

}  // namespace cuszi
