#pragma once

#include <cstddef>
#include <cstdint>

namespace cuszi::gpu {

/// Little-endian, unaligned: sections start at any byte.
__device__ inline void put_bytes(std::byte* to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

__device__ inline std::uint64_t get_bytes(const std::byte* from, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return value;
}

}  // namespace cuszi::gpu
