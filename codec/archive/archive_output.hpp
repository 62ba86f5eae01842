#pragma once

#include "codec/archive/archive_writer.hpp"
#include "codec/frames/device_buffers.hpp"
#include "codec/io/background.hpp"
#include "core/backend/backend.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// Takes compressed frames to an archive, in the background where the sink takes any order: from a
/// device's memory or the host's.
class ArchiveOutput {
 public:
  /// Memory for a frame on its way to the archive.
  struct OutputRegion {
    MutableBytes memory;    ///< the host's or the backend's
    ByteCount offset = 0;   ///< in the archive, if the sink takes any order
    bool is_there = false;  ///< the memory is where the sink wants it
  };

  /// Prepares for `tracks` frames in work at a time.
  ArchiveOutput(Backend& backend, ByteSink& sink, const ArchiveHeader& header,
                std::size_t tracks = 1);

  /// Takes memory for the next frame, the sink's own if it has some for the frame. Other frames may
  /// be sent meanwhile.
  OutputRegion take(ByteCount size);

  /// Writes the frame that stands in the region, in the order in which regions were taken.
  void send(const OutputRegion& region);

  /// Waits for the frames and completes the archive. Returns its size.
  ByteCount finish();

 private:
  ByteSink& sink_;
  ArchiveWriter writer_;
  Transfer* transfer_;
  std::size_t tracks_;
  std::uint64_t frames_ = 0;
  Buffer buffers_[frames_in_memory];  ///< of the host: one is written while the others are filled
  Background writing_;
};

}  // namespace cuszi
