#pragma once

#include "gpu/cells/chains.cuh"

namespace cuszi::gpu {

/// The words that a segment has come to.
struct SegmentOutput {
  const std::uint16_t* words;
  std::uint32_t count;
  std::uint32_t lanes;
};

/// Classes in runs of a lane: words that a segment of them takes at most.
inline constexpr std::uint64_t class_segment_words = 32 * most_run_classes;

/// Words that chains of codes take at most, if none is longer than `room` words a code.
std::uint64_t code_words(std::uint64_t codes, std::uint32_t segments, std::uint32_t room);

struct ChainEncodeTask {
  CellsChains chains;
  const PackedCellShare* class_shares;  ///< [context][class]
  const PackedCellShare* code_shares;   ///< [class][token]
  std::uint16_t* class_words;
  std::uint16_t* code_words;
  std::uint32_t room;     ///< words for a code, 1 or 2
  std::uint32_t* states;  ///< [segment][lane]
  SegmentOutput* words;   ///< [segment]
  std::uint32_t* sizes;   ///< bytes of segments; 0 before
  std::uint32_t* has_overflown;
};

/// Starts to code the chains of all passes.
void encode_chains(DeviceContext& gpu, const ChainEncodeTask& task);

/// Starts to write the segments, at these offsets.
void store_chains(DeviceContext& gpu, const ChainEncodeTask& task, std::uint32_t entries,
                  const std::uint64_t* offsets, std::byte* out);

}  // namespace cuszi::gpu
