#pragma once

#include <span>

#include "core/field/quantizer.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Counts how often each of `bins` symbols occurs; the counts stay on the device.
std::span<const std::uint64_t> count_symbols(DeviceContext& gpu, const QuantCode* symbols,
                                             std::uint64_t count, std::uint32_t bins);

/// Where kernels count the quant-codes that they make: in the shared memory of each thread block,
/// then in global memory.
struct CodeBins {
  static constexpr std::uint32_t most = 4096;  ///< more would leave too few thread blocks

  std::uint32_t count;
  unsigned long long* total;

  /// Bins that are all zero.
  static CodeBins make(DeviceContext& gpu, std::uint32_t bins) {
    return {bins, gpu.take_zeroed<unsigned long long>(bins)};
  }

  unsigned shared_bytes() const { return count * static_cast<unsigned>(sizeof(std::uint32_t)); }

  /// The counts, on the device.
  std::span<const std::uint64_t> counts() const {
    return {reinterpret_cast<const std::uint64_t*>(total), count};
  }
};

/// Counts codes while a thread block makes them, in shared memory (Gomez-Luna et al. 2013): its
/// atomic additions of 1 take lanes with the same code together.
class CodeCounter {
 public:
  /// Needs `shared`, of bins.shared_bytes(), and a barrier before the first add().
  __device__ CodeCounter(const CodeBins& bins, std::uint32_t* shared)
      : bins_(bins), shared_(shared) {
    for (std::uint32_t i = threadIdx.x; i < bins.count; i += blockDim.x) shared[i] = 0;
  }

  __device__ void add(std::uint32_t code) const { atomicAdd(shared_ + code, 1U); }

  /// The bins of the block.
  __device__ std::uint32_t* shared() const { return shared_; }

  /// Adds the block's counts to all: by the whole block.
  __device__ void finish() const {
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < bins_.count; i += blockDim.x) {
      const std::uint32_t count = shared_[i];
      if (count != 0) atomicAdd(bins_.total + i, static_cast<unsigned long long>(count));
    }
  }

 private:
  const CodeBins& bins_;
  std::uint32_t* shared_;
};

}  // namespace cuszi::gpu
