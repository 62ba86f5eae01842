#pragma once

#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

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

}  // namespace cuszi::gpu
