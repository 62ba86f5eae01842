#pragma once

#include <vector>

#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// Device memory for several attempts at a frame, one after the other, which take about the same.
class FrameMemory {
 public:
  /// Keeps `work`.
  explicit FrameMemory(Work& work) : work_(work) {}

  /// Takes everything back.
  void reset() { next_ = 0; }

  /// Room for `count` values, not initialised, valid until the next reset() and as long as the
  /// frame.
  template <class T>
  T* take(ByteCount count) {
    if (next_ == pieces_.size()) pieces_.push_back({});
    Piece& piece = pieces_[next_++];
    const ByteCount size = count * sizeof(T);
    if (piece.memory == nullptr || piece.size < size) {
      piece = {work_.take<std::byte>(size), size};
    }
    return reinterpret_cast<T*>(piece.memory);
  }

 private:
  struct Piece {
    std::byte* memory = nullptr;
    ByteCount size = 0;
  };

  Work& work_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace cuszi::gpu
