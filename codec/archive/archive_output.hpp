#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "codec/archive/archive_writer.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "codec/io/background.hpp"
#include "core/backend/backend.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// Takes compressed frames to an archive: from a device's memory or the host's.
class ArchiveOutput {
 public:
  /// Memory for a frame on its way to the archive.
  struct OutputRegion {
    MutableBytes memory;           ///< the host's or the backend's
    ByteCount offset = 0;          ///< in the archive, if the sink takes any order
    bool is_there = false;         ///< the memory is where the sink wants it
    Transfer* transfer = nullptr;  ///< the way to memory of a device, if it lies there
  };

  /// Prepares for `tracks` frames in work at a time.
  ArchiveOutput(ByteSink& sink, const ArchiveHeader& header, std::size_t tracks = 1)
      : sink_(sink), writer_(sink, header), buffers_(tracks) {}

  /// Takes memory for frame number `i` on the `number`-th track, the sink's own if it has some for
  /// the frame. Frames take their places in their order; one that is made again, on a track of
  /// another device, has its place already. Other frames may be sent meanwhile.
  OutputRegion take(std::uint64_t i, ByteCount size, const Track& track, std::size_t number);

  /// Writes what a device has in its memory. For several tracks at once, in any order.
  void bring(const OutputRegion& region);

  /// Writes what the host has in its memory, in the background where the sink takes any order. In
  /// the order of frames.
  void send(const OutputRegion& region);

  /// Waits for the frames and completes the archive. Returns its size.
  ByteCount finish();

 private:
  ByteCount place_of(std::uint64_t i, ByteCount size);

  /// Two buffers of the host: one is written while the other is filled.
  struct Pair {
    Buffer buffers[2];
    std::size_t turn = 0;
  };

  ByteSink& sink_;
  ArchiveWriter writer_;
  std::mutex mutex_;               ///< of the places
  std::vector<ByteCount> places_;  ///< of the frames that have one
  std::vector<Pair> buffers_;      ///< of each track
  Background writing_;
};

}  // namespace cuszi
