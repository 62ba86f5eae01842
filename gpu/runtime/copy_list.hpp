#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/base/units.hpp"

namespace cuszi::gpu {

/// Bytes to be copied; each side is the device's memory or page-locked.
struct CopyPiece {
  std::byte* to;
  const std::byte* from;
  ByteCount size;
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

}  // namespace cuszi::gpu
