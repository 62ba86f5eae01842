#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/backend/frame_batch.hpp"

namespace cuszi {

// Many small frames at once, as `tiles` or `cells`. Archives are those of compress_frame(). Frames
// that need other features, or are damaged, are left out, to be processed alone.

struct FrameToCode {
  BatchFrame frame;
  PredictorParams draft;
  BatchRange range;  ///< FrameBatch::sample(); for `cells`, scan()
  double bound = 0;  ///< absolute, above 0
};

constexpr bool is_for_batches(PredictorId id) {
  return id == PredictorId::tiles || id == PredictorId::cells;
}

/// Returns backend memory for frame `i`, or empty memory to leave it out. Called concurrently.
using AllocateInBatch = std::function<MutableBytes(std::size_t i, ByteCount size)>;

/// Frames have no fill values or rules, and are the first of their archives. Writes payloads;
/// returns headers, nullopt for frames that are left out.
std::vector<std::vector<std::byte>> compress_batch(FrameBatch& batch,
                                                   std::span<const FrameToCode> frames,
                                                   const AllocateInBatch& allocate);

bool may_join_batch(const FrameHeader& header);

struct FrameToRestore {
  FrameShape shape;
  FrameHeader header;
  Bytes payload;  ///< in the backend's memory
  MutableBytes out;
};

/// Returns which frames are restored; values of others are undefined.
std::vector<char> decompress_batch(FrameBatch& batch, std::span<const FrameToRestore> frames);

}  // namespace cuszi
