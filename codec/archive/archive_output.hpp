#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "codec/frames/frame_scheduler.hpp"
#include "codec/io/background.hpp"
#include "codec/io/byte_sink.hpp"
#include "core/archive/archive.hpp"
#include "core/backend/backend.hpp"
#include "core/base/growing_memory.hpp"

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

/// Writes compressed frames to an archive, from device or host memory.
class ArchiveOutput {
 public:
  struct OutputRegion {
    MutableBytes memory;
    ByteCount offset = 0;          ///< if the sink takes any order
    bool is_there = false;         ///< the sink's own memory
    Transfer* transfer = nullptr;  ///< for device memory
  };

  ArchiveOutput(ByteSink& sink, const ArchiveHeader& header, std::size_t tracks = 1)
      : sink_(sink), writer_(sink, header), buffers_(tracks) {}

  /// Reserves memory for frame `i`, in the sink if possible. Positions follow frame order; a redone
  /// frame keeps its own. May overlap send() of other frames.
  OutputRegion take(std::uint64_t i, ByteCount size, const Track& track, std::size_t number);

  /// Writes a frame from device memory. Thread-safe, in any order.
  void bring(const OutputRegion& region);

  /// Writes a frame from host memory, in frame order; in the background if the sink takes any
  /// order.
  void send(const OutputRegion& region);

  /// Completes the archive. Returns its size in bytes.
  ByteCount finish();

 private:
  ByteCount place_of(std::uint64_t i, ByteCount size);

  struct Pair {
    Buffer buffers[2];
    std::size_t turn = 0;
  };

  ByteSink& sink_;
  ArchiveWriter writer_;
  std::mutex mutex_;               ///< guards places_
  std::vector<ByteCount> places_;  ///< of frames
  std::vector<Pair> buffers_;      ///< one per track
  BackgroundThread writing_;
};

}  // namespace cuszi
