#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// `size` bytes to be copied; each side is the device's memory or page-locked.
struct CopyPiece {
  std::byte* to;
  const std::byte* from;
  ByteCount size;

  /// `count` values.
  template <class T>
  static CopyPiece of(T* to, const T* from, ByteCount count) {
    return {reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
            count * sizeof(T)};
  }
};

/// A kernel copies a piece of this size or less sooner than a copy engine is handed it.
inline constexpr ByteCount most_kernel_copy = 16384;

/// Copies a piece by a thread block.
void copy_by_kernel(const CopyPiece& piece, cudaStream_t stream);

/// Pieces that are copied side by side by a kernel, since one after the other they take as long as
/// their launches.
class CopyList {
 public:
  void add(const CopyPiece& piece) {
    if (piece.size != 0) pieces_.push_back(piece);
  }
  /// Gives all pieces to the stream, after which the list is empty.
  void run(cudaStream_t stream);

 private:
  std::vector<CopyPiece> pieces_;
};

/// Copies many pieces, up to 65535, that begin at any address in the device's memory. They are few
/// bytes or about as large.
void copy_many(DeviceContext& gpu, std::span<const CopyPiece> pieces);

/// Whether kernels may access `memory`: that of a device, or managed.
bool is_on_device(const void* memory);

/// `bytes` in the device's memory: themselves, or a copy on its way there.
Bytes bring(DeviceContext& gpu, Bytes bytes);

/// Starts a copy of `count` values between memories of any kind.
template <class T>
void start_copy(DeviceContext& gpu, T* to, const T* from, ByteCount count) {
  if (count == 0) return;
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, gpu.stream()), "copy");
}

/// Starts a copy of `count` values between the device's memory and page-locked one.
template <class T>
void copy_pinned(DeviceContext& gpu, T* to, const T* from, ByteCount count) {
  if (count * sizeof(T) > most_kernel_copy)
    start_copy(gpu, to, from, count);
  else if (count != 0)
    copy_by_kernel(CopyPiece::of(to, from, count), gpu.stream());
}

/// A copy in page-locked memory of `count` values, which may change right after.
template <class T>
T* stage(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const copy = gpu.take_pinned<T>(count);
  std::copy_n(values, count, copy);
  return copy;
}

/// A copy on the device of `count` values in host memory, which may change right after.
template <class T>
T* upload(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const memory = gpu.take<T>(count);
  copy_pinned(gpu, memory, stage(gpu, values, count), count);
  return memory;
}
/// A copy on the device of `count` values in host memory, made together with the other copies of
/// `list`. The values may change right after.
template <class T>
T* upload(DeviceContext& gpu, const T* values, ByteCount count, CopyList& list) {
  T* const memory = gpu.take<T>(count);
  list.add(CopyPiece::of(memory, stage(gpu, values, count), count));
  return memory;
}

/// `count` values on their way to the host; they have arrived after the next sync().
template <class T>
const T* download(DeviceContext& gpu, const T* values, ByteCount count) {
  T* const host = gpu.take_pinned<T>(count);
  copy_pinned(gpu, host, values, count);
  return host;
}
/// `count` values on their way to the host, copied together with the others of `list`; they have
/// arrived after the next sync() behind that copy.
template <class T>
const T* download(DeviceContext& gpu, const T* values, ByteCount count, CopyList& list) {
  T* const host = gpu.take_pinned<T>(count);
  list.add(CopyPiece::of(host, values, count));
  return host;
}

}  // namespace cuszi::gpu
