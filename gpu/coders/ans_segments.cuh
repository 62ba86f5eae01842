#pragma once

#include "gpu/coders/ans_slots.cuh"
#include "gpu/coders/packed_share.cuh"

namespace cuszi::gpu {

/// Chains, segment by segment, without heads.
struct CodedSegments {
  const std::uint32_t* bytes = nullptr;  ///< of each segment, in page-locked memory
  const std::uint32_t* states = nullptr;
  const std::uint16_t* words = nullptr;  ///< those of a segment end where its slots do
  const std::uint32_t* word_counts = nullptr;
  const std::uint32_t* raw_words = nullptr;
  const std::uint32_t* raw_bits = nullptr;
  const std::uint64_t* raw_starts = nullptr;  ///< words of 32 bits
};

/// Codes all segments under the tables of their lists; `raw_bits` is how many raw bits all tokens
/// have. Makes the copies of `uploads` first. Sizes arrive with the next wait.
CodedSegments encode_segments(DeviceContext& gpu, const FrameSlots& slots,
                              std::span<const FrequencyTable> tables, std::uint64_t raw_bits,
                              std::uint32_t centre, CopyList& uploads);

/// Copies the coded segments to their places in the sections, each at an even address. Makes the
/// copies of `uploads` first.
void store_segments(DeviceContext& gpu, const FrameSlots& slots, const CodedSegments& segments,
                    std::span<std::byte* const> places, CopyList& uploads);

/// Segments to decode that stand one after the other in memory.
struct SegmentRun {
  const std::byte* begin;
  const std::byte* end;
  std::uint32_t first;  ///< segment
  std::uint32_t count;
};

/// Decodes the segments into the values of their lists. Makes the copies of `uploads` first. Damage
/// sets flaws.
void decode_segments(DeviceContext& gpu, const FrameSlots& slots,
                     std::span<const FrequencyTable> tables, std::span<const SegmentRun> runs,
                     std::uint32_t centre, CopyList& uploads);

}  // namespace cuszi::gpu
