#pragma once

#include <bit>
#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi {

// std::bit_width() and its kin, also for device code, which may not call <bit>.

CUSZI_HD inline unsigned bit_width_of(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return 64U - static_cast<unsigned>(__clzll(static_cast<long long>(x)));
#else
  return static_cast<unsigned>(std::bit_width(x));
#endif
}
CUSZI_HD inline unsigned bit_width_of(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 32U - static_cast<unsigned>(__clz(static_cast<int>(x)));
#else
  return static_cast<unsigned>(std::bit_width(x));
#endif
}

/// 2^exponent as a double, for -1022 to 1023.
CUSZI_HD inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace cuszi
