#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/backend/frame_batch.hpp"

namespace cuszi {

// Many small frames at once, as `tiles` codes them. Archives are those of compress_frame(). Frames
// that are left out are to be done alone: they need what a batch does not have, or are damaged.

/// A frame of a batch on its way to an archive.
struct FrameToCode {
  BatchFrame frame;
  BatchRange sample;  ///< FrameBatch::sample()
  double bound = 0;   ///< absolute, more than 0
};

/// Gives the backend's memory for frame `i` of the batch, which takes `size` bytes; none to leave
/// it out. Called by several threads.
using AllocateInBatch = std::function<MutableBytes(std::size_t i, ByteCount size)>;

/// Compresses frames without fill values or rules, each the first one of its archive: payloads go
/// to their place. Returns the headers, which are to be put in front of them; nothing of a frame
/// that is left out.
std::vector<std::vector<std::byte>> compress_batch(FrameBatch& batch,
                                                   std::span<const FrameToCode> frames,
                                                   const AllocateInBatch& allocate);

/// Whether a frame with such a header may come with a batch.
bool may_join_batch(const FrameHeader& header);

/// A frame of a batch on its way to values.
struct FrameToRestore {
  FrameShape shape;
  FrameHeader header;
  Bytes payload;  ///< in the backend's memory
  MutableBytes out;
};

/// Restores frames. Tells for each whether it is restored; else its values are undefined.
std::vector<char> decompress_batch(FrameBatch& batch, std::span<const FrameToRestore> frames);

}  // namespace cuszi
