#pragma once

#include <cstdint>

#include "core/field/frame_shape.hpp"

namespace cuszi::bench {

/// A file of HDF5 in memory with one dataset of one chunk, which the filter compresses.
class ChunkFile {
 public:
  /// `preset` as cuszi_preset counts. Throws std::runtime_error, as all functions do.
  ChunkFile(const FrameShape& shape, double bound, std::uint32_t preset);
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile();

  /// Returns when the chunk stands in the file.
  void write(Bytes values);
  void read(MutableBytes values) const;

 private:
  std::int64_t type_;
  std::int64_t file_ = -1;
  std::int64_t dataset_ = -1;
};

}  // namespace cuszi::bench
