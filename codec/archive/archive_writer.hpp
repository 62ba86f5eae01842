#pragma once

#include <vector>

#include "codec/io/byte_sink.hpp"
#include "core/archive/archive.hpp"

namespace cuszi {

/// The most bytes that an archive with this header can have, whatever its frames hold.
ByteCount most_archive_bytes(const ArchiveHeader& header);

/// Writes an archive from front to back, as to a pipe.
class ArchiveWriter {
 public:
  ArchiveWriter(ByteSink& sink, const ArchiveHeader& header);

  /// Writes the next frame: its table and payload.
  void add_frame(Bytes frame);

  /// Sets aside the place of the next frame, of `size` bytes, in a sink that takes any order. The
  /// caller writes it there himself. Returns where it starts.
  ByteCount set_aside_frame(ByteCount size);

  /// Writes the footer; to be called after the last frame.
  void finish();

  ByteCount bytes_written() const { return written_; }

 private:
  void write(Bytes bytes);

  ByteSink& sink_;
  ByteCount written_ = 0;
  std::vector<ByteCount> frame_bytes_;
};

}  // namespace cuszi
