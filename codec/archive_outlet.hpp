#pragma once

#include "codec/archive_writer.hpp"
#include "codec/background.hpp"
#include "codec/buffer.hpp"
#include "core/backend.hpp"

namespace cuszi {

/// Takes compressed frames to an archive, in the background where the sink takes any order: from a
/// device's memory or the host's.
class ArchiveOutlet {
 public:
  ArchiveOutlet(Backend& backend, ByteSink& sink, const ArchiveHeader& header);

  /// Memory for the next frame, the host's or the backend's; the sink's own if it has some there.
  MutableBytes take(ByteCount size);

  /// Writes the frame that was put there.
  void send();

  /// Waits for the frames and completes the archive. Returns its size.
  ByteCount finish();

 private:
  ByteSink& sink_;
  ArchiveWriter writer_;
  Transfer* transfer_;
  std::uint64_t frames_ = 0;
  Buffer buffers_[2];  ///< of the host: one is filled while the other is written
  MutableBytes frame_;
  bool in_place_ = false;  ///< the frame lies where the sink wants it
  Background draining_;
};

}  // namespace cuszi
