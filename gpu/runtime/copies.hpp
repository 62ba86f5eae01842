#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Each side is device or pinned memory.
struct CopyPiece {
  std::byte* to;
  const std::byte* from;
  ByteCount size;

  template <class T>
  static CopyPiece of(T* to, const T* from, ByteCount count) {
    return {reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
            count * sizeof(T)};
  }
};

/// Up to this size a kernel is faster than a copy engine.
inline constexpr ByteCount most_kernel_copy = 16384;

/// By one thread block.
void copy_by_kernel(const CopyPiece& piece, cudaStream_t stream);

/// Pieces copied by one kernel, which saves launches.
class CopyList {
 public:
  void add(const CopyPiece& piece) {
    if (piece.size != 0) pieces_.push_back(piece);
  }
  /// Enqueues the copies and clears the list.
  void run(cudaStream_t stream);

 private:
  std::vector<CopyPiece> pieces_;
};

/// Copies unaligned pieces of device memory, small or of similar size.
void copy_many(DeviceContext& gpu, std::span<const CopyPiece> pieces);

/// Device or managed memory.
bool is_on_device(const void* memory);

/// `bytes` if in device memory, else a copy there (asynchronous).
Bytes bring(DeviceContext& gpu, Bytes bytes);

/// Asynchronous, between any memories.
template <class T>
void start_copy(DeviceContext& gpu, T* to, const T* from, ByteCount count) {
  if (count == 0) return;
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, gpu.stream()), "copy");
}

/// Asynchronous, between device and pinned memory.
template <class T>
void copy_pinned(DeviceContext& gpu, T* to, const T* from, ByteCount count) {
  if (count * sizeof(T) > most_kernel_copy)
    start_copy(gpu, to, from, count);
  else if (count != 0)
    copy_by_kernel(CopyPiece::of(to, from, count), gpu.stream());
}

/// A pinned copy; `values` may change afterwards.
template <class T>
T* stage(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const copy = gpu.take_pinned<T>(count);
  std::copy_n(values, count, copy);
  return copy;
}

/// A device copy (asynchronous); `values` may change afterwards.
template <class T>
T* upload(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const memory = gpu.take<T>(count);
  copy_pinned(gpu, memory, stage(gpu, values, count), count);
  return memory;
}
/// Uploads with the copies of `list`.
template <class T>
T* upload(DeviceContext& gpu, const T* values, ByteCount count, CopyList& list) {
  T* const memory = gpu.take<T>(count);
  list.add(CopyPiece::of(memory, stage(gpu, values, count), count));
  return memory;
}

/// Pinned memory, valid after the next sync().
template <class T>
const T* download(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const host = gpu.take_pinned<T>(count);
  copy_pinned(gpu, host, values, count);
  return host;
}
/// Pinned memory, valid after `list` has run and the next sync().
template <class T>
const T* download(DeviceContext& gpu, const T* values, ByteCount count, CopyList& list) {
  T* const host = gpu.take_pinned<T>(count);
  list.add(CopyPiece::of(host, values, count));
  return host;
}

}  // namespace cuszi::gpu
