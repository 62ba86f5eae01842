#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/units.hpp"
#include "gpu/runtime/copies.hpp"

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

/// Unaligned load by aligned words that contain the bytes.
__device__ inline std::uint64_t eight_bytes(const std::byte* from) {
  const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 8) * 8;
  const auto* const words = reinterpret_cast<const std::uint64_t*>(from - shift / 8);
  if (shift == 0) return words[0];
  return (words[0] >> shift) | (words[1] << (64 - shift));
}

/// How often eight_bytes() can read from an address without leaving `size` bytes.
__device__ inline ByteCount words_inside(const std::byte* from, ByteCount size) {
  if (reinterpret_cast<std::uintptr_t>(from) % 8 == 0) return size / 8;
  return size < 8 ? 0 : (size - 8) / 8;
}

/// Unaligned copy by 8 bytes, by a row of thread blocks.
__device__ inline void copy_piece(const CopyPiece& piece) {
  const auto misplaced = static_cast<unsigned>(-reinterpret_cast<std::uintptr_t>(piece.to) % 8);
  const ByteCount before = misplaced < piece.size ? misplaced : piece.size;
  const ByteCount words = words_inside(piece.from + before, piece.size - before);
  const ByteCount first = blockIdx.x * blockDim.x + threadIdx.x;
  const ByteCount all = gridDim.x * blockDim.x;
  if (first < before) piece.to[first] = piece.from[first];
  auto* const to = reinterpret_cast<std::uint64_t*>(piece.to + before);
  for (ByteCount i = first; i < words; i += all) to[i] = eight_bytes(piece.from + before + 8 * i);
  for (ByteCount i = before + 8 * words + first; i < piece.size; i += all)
    piece.to[i] = piece.from[i];
}

/// The address of something in shared memory, as instructions take it.
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Atomic, in shared memory; skips zeros.
__device__ inline void set_bits(std::uint32_t* word, std::uint32_t bits) {
  asm volatile("{.reg .pred any; setp.ne.u32 any, %1, 0; @any red.shared.or.b32 [%0], %1;}"
               :
               : "r"(shared_address(word)), "r"(bits)
               : "memory");
}

/// cp.async of 4 or 8 aligned bytes from global to shared memory.
template <ByteCount size>
__device__ inline void copy_async(void* shared, const void* global) {
  static_assert(size == 4 || size == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(shared)),
               "l"(global), "n"(size)
               : "memory");
}

/// cp.async of 4 bytes; only the first `size` are read, the rest are zeros.
__device__ inline void copy_word_async(void* shared, const void* global, unsigned size) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)),
               "l"(global), "r"(size)
               : "memory");
}

/// Starts to bring the cache line of an address in global memory to the second level.
__device__ inline void prefetch(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

/// For this thread's copies.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace cuszi::gpu
