#pragma once

#include <cstdint>

#include "core/field/frame_shape.hpp"

namespace cuszi::bench {

/// An in-memory HDF5 file with one dataset of one filtered chunk.
class ChunkFile {
 public:
  /// `preset` is a cuszi_preset. All functions throw std::runtime_error.
  ChunkFile(const FrameShape& shape, double bound, std::uint32_t preset);
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile();

  /// Flushes the chunk.
  void write(Bytes values);
  void read(MutableBytes values) const;

 private:
  std::int64_t type_;
  std::int64_t file_ = -1;
  std::int64_t dataset_ = -1;
};

}  // namespace cuszi::bench
