#pragma once

#include "core/base/units.hpp"

namespace cuszi::gpu {

/// Starts to copy 4 or 8 aligned bytes from global to shared memory, past the registers.
template <ByteCount size>
__device__ inline void copy_async(void* shared, const void* global) {
  static_assert(size == 4 || size == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "n"(size)
               : "memory");
}

/// Starts an asynchronous copy of 4 bytes to shared memory. Only the first `size` bytes are read;
/// zeros stand for the others.
__device__ inline void copy_word_async(void* shared, const void* global, unsigned size) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(size)
               : "memory");
}

/// Waits for the copies that this thread has started.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace cuszi::gpu
