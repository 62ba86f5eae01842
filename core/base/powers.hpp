#pragma once

#include <bit>
#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi {

/// 2^exponent as a double, for -1022 to 1023.
CUSZI_HD inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace cuszi
