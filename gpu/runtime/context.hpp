#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/runtime/arena.hpp"
#include "gpu/runtime/device.hpp"
#include "gpu/runtime/host_threads.hpp"
#include "gpu/runtime/stream.hpp"

namespace cuszi::gpu {

/// Damage of an archive found by kernels, as bits.
enum Flaw : std::uint32_t {
  codes_leave_chunk = 1,
  bad_chunk_index = 2,
  bad_sparse_list = 4,
  bad_tiles = 8,
  unlisted_outlier = 16,
  bad_ans_segment = 32,
  wrong_code_counts = 64,
  bad_places = 128,
  bad_anchors = 256,
};

/// A device, its streams, arenas of device and pinned memory, host threads.
class DeviceContext {
 public:
  explicit DeviceContext(Device device = Device::in_use()) : device_(std::move(device)) {}
  /// High priority, for short steps beside another context.
  DeviceContext(Device device, unsigned host_threads)
      : device_(std::move(device)), streams_(true), host_(host_threads) {}

  const Device& device() const { return device_; }

  StreamFork& streams() { return streams_; }
  cudaStream_t stream() const { return streams_.current(); }
  void sync() const { streams_.sync(); }

  HostThreads& host() { return host_; }

  void reset() {
    for (std::size_t i = 0; i < others_in_use_; ++i) others_[i]->reset();
    others_in_use_ = 0;
    streams_.sync_all();
    memory_.reset();
    pinned_.reset();
    flaws_ = nullptr;
  }

  const Arena<DeviceMemory>& memory() const { return memory_; }

  /// Uninitialised device memory, valid until reset().
  template <class T>
  T* take(ByteCount count) {
    return memory_.take<T>(count);
  }
  template <class T>
  T* take_zeroed(ByteCount count) {
    T* const memory = take<T>(count);
    check(cudaMemsetAsync(memory, 0, count * sizeof(T), stream()), "clear memory");
    return memory;
  }
  template <class T>
  T* take_pinned(ByteCount count) {
    return pinned_.take<T>(count);
  }

  /// Reuses a piece that no later work of the main stream needs.
  void lend(MutableBytes piece) { memory_.lend(piece); }

  /// For concurrent work; reset with this one.
  DeviceContext& other(std::size_t number) {
    constexpr unsigned host_threads = 3;  // there are several
    while (others_.size() <= number)
      others_.push_back(std::make_unique<DeviceContext>(device_, host_threads));
    others_in_use_ = std::max(others_in_use_, number + 1);
    return *others_[number];
  }

  /// A word on the device for Flaw bits.
  std::uint32_t* flaws() {
    if (flaws_ == nullptr) flaws_ = take_zeroed<std::uint32_t>(1);
    return flaws_;
  }

 private:
  Device device_;
  StreamFork streams_;
  Arena<DeviceMemory> memory_;
  Arena<PinnedMemory> pinned_;
  std::uint32_t* flaws_ = nullptr;
  HostThreads host_;
  std::vector<std::unique_ptr<DeviceContext>> others_;
  std::size_t others_in_use_ = 0;  ///< since the last reset()
};

/// Arrays that are cleared by one call.
class ZeroedArrays {
 public:
  /// take() sets `array`.
  template <class T>
  void add(T*& array, ByteCount count) {
    constexpr ByteCount alignment = 256;
    setters_.push_back(
        [&array, at = size_](std::byte* memory) { array = reinterpret_cast<T*>(memory + at); });
    size_ += ceil_div(count * sizeof(T), alignment) * alignment;
  }
  void take(DeviceContext& gpu) const {
    auto* const memory = gpu.take_zeroed<std::byte>(size_);
    for (const auto& set : setters_) set(memory);
  }

 private:
  std::vector<std::function<void(std::byte*)>> setters_;
  ByteCount size_ = 0;
};

class FrameMemory {
 public:
  /// Keeps a reference.
  explicit FrameMemory(DeviceContext& gpu) : gpu_(gpu) {}

  void reset() { next_ = 0; }

  /// Uninitialised, valid until reset() and within the frame.
  template <class T>
  T* take(ByteCount count) {
    if (next_ == pieces_.size()) pieces_.emplace_back();
    MutableBytes& piece = pieces_[next_++];
    const ByteCount size = count * sizeof(T);
    if (piece.data() == nullptr || piece.size() < size) piece = {gpu_.take<std::byte>(size), size};
    return reinterpret_cast<T*>(piece.data());
  }

 private:
  DeviceContext& gpu_;
  std::vector<MutableBytes> pieces_;
  std::size_t next_ = 0;
};

}  // namespace cuszi::gpu
