#pragma once

#include "core/base/units.hpp"

namespace cuszi::gpu {

/// cp.async of 4 or 8 aligned bytes from global to shared memory.
template <ByteCount size>
__device__ inline void copy_async(void* shared, const void* global) {
  static_assert(size == 4 || size == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "n"(size)
               : "memory");
}

/// cp.async of 4 bytes; only the first `size` are read, the rest are zeros.
__device__ inline void copy_word_async(void* shared, const void* global, unsigned size) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(size)
               : "memory");
}

/// For this thread's copies.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace cuszi::gpu
