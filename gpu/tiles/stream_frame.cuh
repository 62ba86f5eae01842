#pragma once

#include "core/backend/stream_coder.hpp"
#include "core/tiles/tiles.hpp"
#include "gpu/field/hash_lanes.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

/// Reports the outcome of a call to the caller.
struct StreamOutcome {
  std::int32_t* status;
  std::uint64_t* first_failure;  ///< of many calls: 0, or (number + 1) << 32
                                 ///< status
  std::uint32_t number;

  __device__ void tell(std::int32_t result, bool failed) const {
    if (status != nullptr) *status = result;
    if (!failed || *first_failure != 0) return;
    *first_failure = (std::uint64_t{number} + 1) << 32 | static_cast<std::uint32_t>(result);
  }
};

/// By a thread block, which overlaps the words' stores. Needs a barrier afterwards.
template <class Task>
__device__ void put_task(const Task& task, Task& to) {
  static_assert(sizeof(Task) % sizeof(std::uint32_t) == 0);
  const auto* const from = reinterpret_cast<const std::uint32_t*>(&task);
  auto* const words = reinterpret_cast<std::uint32_t*>(&to);
  for (unsigned i = threadIdx.x; i < sizeof(Task) / sizeof(std::uint32_t); i += blockDim.x)
    words[i] = from[i];
}

/// Through shared memory: twice as fast as few threads that stall on global memory.
__device__ inline void hash_payload_block(Bytes block, std::uint64_t& hash) {
  constexpr unsigned word_bytes = sizeof(std::uint64_t);
  __shared__ std::uint64_t words[hash_block_bytes / word_bytes];
  const auto length = static_cast<unsigned>(block.size());
  const std::byte* const from = block.data();
  const auto inside = static_cast<unsigned>(words_inside(from, length));
  __syncthreads();  // for the previous block
  for (unsigned i = threadIdx.x; i < length / word_bytes; i += blockDim.x) {
    const std::byte* const at = from + i * word_bytes;
    const std::uint64_t word = i < inside ? eight_bytes(at) : get_bytes(at, word_bytes);
    words[i] = i < scaled_words(length) ? word * prime2 : word;
  }
  auto* const bytes = reinterpret_cast<std::byte*>(words);
  const unsigned rest = length / word_bytes * word_bytes;
  for (unsigned i = rest + threadIdx.x; i < length; i += blockDim.x) bytes[i] = from[i];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const std::uint64_t found = xxh64_of_scaled(words, length);
  if (threadIdx.x == 0) hash = found;
}

/// By a row of thread blocks.
__device__ inline void hash_payload(const std::byte* payload, std::uint64_t size,
                                    std::uint64_t* hashes) {
  for (std::uint64_t i = blockIdx.x; i * hash_block_bytes < size; i += gridDim.x) {
    const std::uint64_t left = size - i * hash_block_bytes;
    hash_payload_block(
        {payload + i * hash_block_bytes, left < hash_block_bytes ? left : hash_block_bytes},
        hashes[i]);
  }
}

/// In the first lane. Few hashes are loaded to shared memory first.
__device__ inline std::uint64_t combined_hash(const std::uint64_t* hashes, std::uint64_t size) {
  constexpr unsigned few = 32;
  __shared__ std::uint64_t here[few];
  const auto blocks = static_cast<unsigned>(ceil_div(size, hash_block_bytes));
  if (blocks <= few && threadIdx.x % 32 < blocks) here[threadIdx.x % 32] = hashes[threadIdx.x % 32];
  __syncwarp();
  return xxh64_of(reinterpret_cast<const std::byte*>(blocks <= few ? here : hashes),
                  blocks * static_cast<unsigned>(sizeof(std::uint64_t)));
}

/// Hash of less than a block, in the first lane. `bytes` and `room` are in shared memory.
__device__ inline std::uint64_t hash_of_few(const std::byte* bytes, unsigned size,
                                            std::uint64_t& room) {
  const std::uint64_t hash = xxh64_of(bytes, size);
  if (threadIdx.x % 32 == 0) room = hash;
  __syncwarp();
  const std::uint64_t result =
      xxh64_of(reinterpret_cast<const std::byte*>(&room), sizeof(std::uint64_t));
  __syncwarp();
  return result;
}

struct StreamPolicy {
  static constexpr unsigned threads = 256;
  static constexpr ByteCount bytes_of_block = 4 * hash_block_bytes;  ///< of values

  /// Two rows, for hash_payload() and copy_piece() of up to `bytes` bytes.
  static dim3 grid(ByteCount bytes) { return {grid_of(ceil_div(bytes, bytes_of_block)), 2}; }
};

class ScratchPieces {
 public:
  explicit ScratchPieces(std::byte* memory) : memory_(memory) {}

  template <class P>
  P* take(std::uint64_t count) {
    constexpr ByteCount alignment = 256;
    auto* const piece = reinterpret_cast<P*>(memory_ + size_);
    size_ = ceil_div(size_ + count * sizeof(P), alignment) * alignment;
    return piece;
  }
  ByteCount size() const { return size_; }

 private:
  std::byte* memory_;
  ByteCount size_ = 0;
};

/// Calls f(T{0}, tile shape).
template <class F>
decltype(auto) with_tiles_of(const FrameShape& shape, const F& f) {
  return with_type_of(shape.dtype, [&](auto zero) {
    return with_tile_shape(shape.extents(), [&](auto tile) { return f(zero, tile); });
  });
}

}  // namespace cuszi::gpu
