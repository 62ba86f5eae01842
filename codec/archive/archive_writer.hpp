#pragma once

#include <vector>

#include "codec/io/byte_sink.hpp"
#include "core/archive/archive.hpp"

namespace cuszi {

/// Upper limit of an archive's size in bytes.
ByteCount most_archive_bytes(const ArchiveHeader& header);

class ArchiveWriter {
 public:
  ArchiveWriter(ByteSink& sink, const ArchiveHeader& header);

  /// `frame` is table and payload.
  void add_frame(Bytes frame);

  /// Reserves bytes that the caller writes; requires a sink of any order. Returns their offset.
  ByteCount set_aside_frame(ByteCount size);

  /// Call after the last frame.
  void finish();

  ByteCount bytes_written() const { return written_; }

 private:
  void write(Bytes bytes);

  ByteSink& sink_;
  ByteCount written_ = 0;
  std::vector<ByteCount> frame_bytes_;
};

}  // namespace cuszi
