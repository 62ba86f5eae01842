#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"
#include "gpu/runtime/device.hpp"

namespace cuszi::gpu {

struct DeviceMemory {
  static void* allocate(ByteCount size) {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, size);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw DeviceError("the GPU has not enough memory for " + std::to_string(size) + " bytes more",
                        Setting::frame_size);
    }
    check(status, "allocate memory");
    return memory;
  }
  static void release(void* memory) { cudaFree(memory); }
};

/// Page-locked host memory, accessible from the device.
struct PinnedMemory {
  static void* allocate(ByteCount size) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, size, cudaHostAllocDefault), "allocate page-locked memory");
    return memory;
  }
  static void release(void* memory) { cudaFreeHost(memory); }
};

/// Freed as a whole. After the first frame it is a single block and allocates nothing.
template <class Memory>
class Arena : Unmovable {
 public:
  ~Arena() { release(); }

  /// Uninitialised, valid until reset().
  template <class T>
  T* take(ByteCount count) {
    const ByteCount size =
        ceil_div(std::max<ByteCount>(count * sizeof(T), 1), alignment) * alignment;
    if (size <= lent_.size()) {
      const auto piece = lent_.first(size);
      lent_ = lent_.subspan(size);
      return reinterpret_cast<T*>(piece.data());
    }
    if (blocks_.empty() || size > blocks_.back().size - used_) grow(size);
    std::byte* const memory = static_cast<std::byte*>(blocks_.back().memory) + used_;
    used_ += size;
    taken_ += size;
    peak_ = std::max(peak_, taken_);
    return reinterpret_cast<T*>(memory);
  }

  /// Reuses a piece that is no longer needed for takes that fit.
  void lend(MutableBytes piece) { lent_ = piece; }

  /// Frees all; several blocks become one.
  void reset() {
    lent_ = {};
    taken_ = 0;
    used_ = 0;
    if (blocks_.size() < 2) return;
    release();
    grow(peak_);
  }

  /// Whether bytes lie in one of the blocks.
  bool holds(Bytes bytes) const {
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
      const auto* const begin = static_cast<const std::byte*>(block.memory);
      return !std::less<>{}(bytes.data(), begin) &&
             !std::less<>{}(begin + block.size, bytes.data() + bytes.size());
    });
  }

  ByteCount peak() const { return peak_; }

 private:
  static constexpr ByteCount alignment = 256;
  static constexpr ByteCount smallest_block = ByteCount{1} << 20;

  struct Block {
    void* memory;
    ByteCount size;
  };

  void grow(ByteCount size) {
    const ByteCount block = std::max(size, smallest_block);
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back({Memory::allocate(block), block});
    used_ = 0;
  }

  void release() {
    for (const Block& block : blocks_) Memory::release(block.memory);
    blocks_.clear();
  }

  std::vector<Block> blocks_;
  MutableBytes lent_;
  ByteCount used_ = 0;  ///< of the last block
  ByteCount taken_ = 0;
  ByteCount peak_ = 0;
};

}  // namespace cuszi::gpu
