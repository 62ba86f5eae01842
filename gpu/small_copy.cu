#include "gpu/work.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned copy_threads = 256;

/// By 8 bytes at a time where both sides are aligned.
__global__ void __launch_bounds__(copy_threads)
    copy_bytes(std::byte* to, const std::byte* from, unsigned size) {
  using Word = std::uint64_t;
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const unsigned words = places % sizeof(Word) == 0 ? size / sizeof(Word) : 0;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  for (unsigned i = words * sizeof(Word) + threadIdx.x; i < size; i += blockDim.x) to[i] = from[i];
}

}  // namespace

void copy_by_kernel(void* to, const void* from, ByteCount size, cudaStream_t stream) {
  const unsigned threads = size <= 32 * sizeof(std::uint64_t) ? 32 : copy_threads;
  copy_bytes<<<1, threads, 0, stream>>>(static_cast<std::byte*>(to),
                                        static_cast<const std::byte*>(from),
                                        static_cast<unsigned>(size));
  check_launch("copy_bytes");
}

}  // namespace cuszi::gpu
