#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/units.hpp"
#include "gpu/runtime/arena.hpp"
#include "gpu/runtime/copy_list.hpp"
#include "gpu/runtime/host_threads.hpp"
#include "gpu/runtime/stream.hpp"

namespace cuszi::gpu {

/// What kernels may find wrong with an archive, as bits of one word.
enum Flaw : std::uint32_t {
  codes_leave_chunk = 1,
  bad_chunk_index = 2,
  bad_sparse_list = 4,
  bad_tiles = 8,
  unlisted_outlier = 16,
  bad_ans_segment = 32,
  wrong_code_counts = 64,
};

/// Where a step runs and takes its memory from: one stream, and another for what goes on beside it,
/// one arena on the device, one of page-locked memory for what travels, threads of the host.
class Work {
 public:
  Work() = default;
  /// Beside another, with short steps to be made soon.
  explicit Work(unsigned host_threads) : main_(true), side_(true), host_(host_threads) {}

  cudaStream_t stream() const { return (is_forked_ ? side_ : main_).get(); }
  Arena<DeviceMemory>& device() { return device_; }
  /// For what the host decides between kernels.
  HostThreads& host() { return host_; }

  /// Forgets the last frame.
  void reset() {
    for (std::size_t i = 0; i < others_in_use_; ++i) others_[i]->reset();
    others_in_use_ = 0;
    sync_all();
    device_.reset();
    pinned_.reset();
    flaws_ = nullptr;
  }

  void sync() const { check(cudaStreamSynchronize(stream()), "finish its work"); }
  /// Also for what goes on beside.
  void sync_all() const {
    check(cudaStreamSynchronize(main_.get()), "finish its work");
    check(cudaStreamSynchronize(side_.get()), "finish its work");
  }

  /// Remembers what the device has been given so far, for wait_for_mark().
  void mark() const { marked_.record(is_forked_ ? side_ : main_); }
  void wait_for_mark() const { marked_.wait(); }

  /// What `give` gives the device goes on beside all that follows, until join(). It begins after
  /// all that was given before, or before the mark.
  template <class F>
  void fork(const F& give) {
    forked_.record(main_);
    fork_since(forked_, give);
  }
  template <class F>
  void fork_since_mark(const F& give) {
    fork_since(marked_, give);
  }
  /// What follows begins after all that goes on beside.
  void join() const {
    forked_.record(side_);
    forked_.hold(main_);
  }

  template <class T>
  T* take(ByteCount count) {
    return device_.take<T>(count);
  }

  /// A piece of what was taken that nothing given to the main stream from here on needs.
  void lend(MutableBytes piece) { device_.lend(piece); }

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

  /// A copy on the device of `count` values in host memory, which may change right after.
  template <class T>
  T* upload(const T* values, ByteCount count) {
    T* const memory = take<T>(count);
    copy_pinned(memory, staged(values, count), count);
    return memory;
  }
  /// A copy on the device of `count` values in host memory, made together with the other copies of
  /// `list`. The values may change right after.
  template <class T>
  T* upload(const T* values, ByteCount count, CopyList& list) {
    T* const memory = take<T>(count);
    add_copy(memory, staged(values, count), count, list);
    return memory;
  }

  /// Values on their way to the host; they have arrived after the next sync().
  template <class T>
  const T* download(const T* values, ByteCount count) {
    T* const host = pinned_.take<T>(count);
    copy_pinned(host, values, count);
    return host;
  }
  /// Values on their way to the host, copied together with the others of `list`; they have arrived
  /// after the next sync() behind that copy.
  template <class T>
  const T* download(const T* values, ByteCount count, CopyList& list) {
    T* const host = pinned_.take<T>(count);
    add_copy(host, values, count, list);
    return host;
  }

  /// A copy between the device's memory and page-locked one.
  template <class T>
  void copy_pinned(T* to, const T* from, ByteCount count) {
    if (count * sizeof(T) > most_kernel_copy)
      copy(to, from, count);
    else if (count != 0)
      copy_by_kernel(piece_of(to, from, count), stream());
  }

  template <class T>
  void copy(T* to, const T* from, ByteCount count) {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream()), "copy");
  }

  /// Others of the same device, for what goes on side by side; reset with this one.
  Work& other(std::size_t number) {
    constexpr unsigned host_threads = 3;  // there are several
    while (others_.size() <= number) others_.push_back(std::make_unique<Work>(host_threads));
    others_in_use_ = std::max(others_in_use_, number + 1);
    return *others_[number];
  }

  /// The word in which kernels set Flaw bits.
  std::uint32_t* flaws() {
    if (flaws_ == nullptr) flaws_ = take_zeroed<std::uint32_t>(1);
    return flaws_;
  }

  /// A copy in page-locked memory of values that may change right after.
  template <class T>
  T* staged(const T* values, ByteCount count) {
    T* const copy = pinned_.take<T>(count);
    std::copy_n(values, count, copy);
    return copy;
  }

  /// A copy between the device's memory and page-locked one, as one of a list.
  template <class T>
  void add_copy(T* to, const T* from, ByteCount count, CopyList& list) {
    list.add(piece_of(to, from, count));
  }

 private:
  template <class T>
  static CopyPiece piece_of(T* to, const T* from, ByteCount count) {
    return {reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
            count * sizeof(T)};
  }

  template <class F>
  void fork_since(const Event& event, const F& give) {
    struct Return {
      bool& is_forked;
      ~Return() { is_forked = false; }
    };
    event.hold(side_);
    const Return at_the_end{is_forked_ = true};
    give();
  }

  Stream main_;
  Stream side_;
  Event marked_;
  Event forked_;
  bool is_forked_ = false;
  Arena<DeviceMemory> device_;
  Arena<PinnedMemory> pinned_;
  std::uint32_t* flaws_ = nullptr;
  HostThreads host_;
  std::vector<std::unique_ptr<Work>> others_;
  std::size_t others_in_use_ = 0;  ///< since the last reset()
};

/// A number of thread blocks as a launch takes it. Throws DeviceError if that is too small for it.
inline unsigned grid_of(std::uint64_t blocks) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 31) - 1;
  if (blocks > most) {
    throw DeviceError("a frame needs " + std::to_string(blocks) +
                          " thread blocks, more than a GPU can run; use smaller frames or the CPU",
                      Setting::frame_size);
  }
  return static_cast<unsigned>(blocks);
}

/// Blocks of `threads` threads for `count` items, one item a thread. Throws DeviceError.
inline unsigned blocks_for(std::uint64_t count, unsigned threads) {
  return grid_of(ceil_div(count, threads));
}

}  // namespace cuszi::gpu
