#include <algorithm>

#include "gpu/field/histogram.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned pack_symbols = 8;

struct alignas(16) Pack {
  QuantCode symbols[pack_symbols];
};

/// The eight symbols around the middle are counted in registers: 8 bits each in a word, spilled
/// before overflow.
class NearCounts {
 public:
  static constexpr unsigned symbols = 8;

  __device__ void add(unsigned nearby) { bytes_ += std::uint64_t{1} << (8 * nearby); }
  /// Call it after every pack.
  __device__ void end_pack() {
    if (++packs_ == 255 / pack_symbols) spill();
  }
  /// Adds the warp's counts to `bins`.
  __device__ void finish(std::uint32_t* bins) {
    spill();
#pragma unroll
    for (unsigned i = 0; i < symbols; ++i) {
      const unsigned sum = __reduce_add_sync(~0U, counts_[i]);
      if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(bins + i, sum);
    }
  }

 private:
  __device__ void spill() {
#pragma unroll
    for (unsigned i = 0; i < symbols; ++i)
      counts_[i] += static_cast<unsigned>(bytes_ >> (8 * i)) & 0xFFU;
    bytes_ = 0;
    packs_ = 0;
  }

  std::uint64_t bytes_ = 0;
  unsigned packs_ = 0;
  unsigned counts_[symbols] = {};
};

/// Bins [first, first + size) in shared memory, in `copies`; others are counted in global memory.
struct Window {
  std::uint32_t first;
  std::uint32_t size;
  std::uint32_t copies;
  std::uint32_t near;  ///< first symbol counted in registers, within the window
};

struct HistogramPolicy {
  static constexpr std::uint32_t few_bins = 4096;
  static constexpr std::uint32_t most_copies = 8;
  static constexpr std::uint32_t most_shared = 32768;  ///< bins
  unsigned threads;
  unsigned blocks_of_multiprocessor;

  static constexpr HistogramPolicy of(std::uint32_t bins) {
    return bins <= few_bins ? HistogramPolicy{256, 8} : HistogramPolicy{1024, 1};
  }
};

extern __shared__ std::uint32_t shared_bins[];

__global__ void count_packs(const QuantCode* symbols, std::uint64_t count, std::uint32_t bins,
                            Window window, unsigned long long* total) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t self = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t* const own = shared_bins + threadIdx.x / 32 % window.copies * window.size;
  for (std::uint32_t i = threadIdx.x; i < window.size * window.copies; i += blockDim.x)
    shared_bins[i] = 0;
  __syncthreads();

  NearCounts near;
  const auto add = [&](QuantCode symbol) {
    const unsigned at = symbol - window.first;
    if (at - window.near < NearCounts::symbols)
      near.add(at - window.near);
    else if (at < window.size)
      atomicAdd(own + at, 1U);
    else if (symbol < bins)
      atomicAdd(total + symbol, 1ULL);
  };
  const auto* const packs = reinterpret_cast<const Pack*>(symbols);
  const std::uint64_t pack_count = count / pack_symbols;
  for (std::uint64_t i = self; i < pack_count; i += stride) {
    const Pack pack = packs[i];
    for (const QuantCode symbol : pack.symbols) add(symbol);
    near.end_pack();
  }
  if (const std::uint64_t i = pack_count * pack_symbols + self; i < count) add(symbols[i]);
  near.finish(own + window.near);
  __syncthreads();

  for (std::uint32_t bin = threadIdx.x; bin < window.size; bin += blockDim.x) {
    std::uint32_t sum = 0;
    for (std::uint32_t copy = 0; copy < window.copies; ++copy)
      sum += shared_bins[copy * window.size + bin];
    if (sum != 0) atomicAdd(total + window.first + bin, static_cast<unsigned long long>(sum));
  }
}

}  // namespace

std::span<const std::uint64_t> count_symbols(DeviceContext& gpu, const QuantCode* symbols,
                                             std::uint64_t count, std::uint32_t bins) {
  using Policy = HistogramPolicy;
  Window window{0, std::min(bins, Policy::most_shared), 1, 0};
  window.first = bins / 2 - window.size / 2;
  window.near = window.size / 2 - std::min(window.size / 2, NearCounts::symbols / 2);
  window.copies = std::clamp(Policy::few_bins / window.size, 1U, Policy::most_copies);
  const Policy policy = Policy::of(window.size);
  const unsigned shared = window.size * window.copies * sizeof(std::uint32_t);
  raise_shared_limit(gpu.device(), count_packs);
  auto* const total = gpu.take_zeroed<std::uint64_t>(bins);
  const unsigned most_blocks = gpu.device().multiprocessors * policy.blocks_of_multiprocessor;
  const unsigned blocks =
      std::clamp(blocks_for(count / pack_symbols, policy.threads), 1U, most_blocks);
  count_packs<<<blocks, policy.threads, shared, gpu.stream()>>>(
      symbols, count, bins, window, reinterpret_cast<unsigned long long*>(total));
  check_launch("count_packs");
  return {total, bins};
}

}  // namespace cuszi::gpu
