#pragma once

#include <span>

#include "core/field/quantizer.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

std::span<const std::uint64_t> count_symbols(DeviceContext& gpu, const QuantCode* symbols,
                                             std::uint64_t count, std::uint32_t bins);

/// Per thread block in shared memory, then global.
struct CodeBins {
  static constexpr std::uint32_t most = 4096;  ///< more would reduce occupancy

  std::uint32_t count;
  unsigned long long* total;

  /// Zeroed.
  static CodeBins make(DeviceContext& gpu, std::uint32_t bins) {
    return {bins, gpu.take_zeroed<unsigned long long>(bins)};
  }

  unsigned shared_bytes() const { return count * static_cast<unsigned>(sizeof(std::uint32_t)); }

  /// On the device.
  std::span<const std::uint64_t> counts() const {
    return {reinterpret_cast<const std::uint64_t*>(total), count};
  }
};

/// In shared memory (Gomez-Luna et al. 2013), whose atomics by 1 are aggregated by hardware.
class CodeCounter {
 public:
  /// `shared` has bins.shared_bytes(). Needs a barrier before the first add().
  __device__ CodeCounter(const CodeBins& bins, std::uint32_t* shared)
      : bins_(bins), shared_(shared) {
    for (std::uint32_t i = threadIdx.x; i < bins.count; i += blockDim.x) shared[i] = 0;
  }

  __device__ void add(std::uint32_t code) const { atomicAdd(shared_ + code, 1U); }

  __device__ std::uint32_t* shared() const { return shared_; }

  /// Adds the block's counts to the total; called by the whole block.
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
