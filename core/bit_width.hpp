#pragma once

#include <bit>
#include <cstdint>

#include "core/hd.hpp"

namespace cuszi {

/// std::bit_width, also in code for a device, where that of the host's library must not be relied
/// on.
CUSZI_HD inline unsigned bit_width_of(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 32U - static_cast<unsigned>(__clz(static_cast<int>(x)));
#else
  return static_cast<unsigned>(std::bit_width(x));
#endif
}

}  // namespace cuszi
