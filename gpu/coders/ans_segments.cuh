#pragma once

#include "gpu/coders/ans_slots.cuh"
#include "gpu/coders/packed_share.cuh"

namespace cuszi::gpu {

struct CodedSegments {
  const std::uint32_t* bytes = nullptr;  ///< by segment, in pinned memory
  const std::uint32_t* states = nullptr;
  const std::uint16_t* words = nullptr;  ///< end where the segment's slots end
  const std::uint32_t* word_counts = nullptr;
  const std::uint32_t* raw_words = nullptr;
  const std::uint32_t* raw_bits = nullptr;
  const std::uint64_t* raw_starts = nullptr;  ///< in 32-bit words
};

/// `raw_bits`: sum over all tokens. Runs `uploads` first. Sizes are valid after the next sync().
CodedSegments encode_segments(DeviceContext& gpu, const FrameSlots& slots,
                              std::span<const FrequencyTable> tables, std::uint64_t raw_bits,
                              std::uint32_t centre, CopyList& uploads);

/// Copies segments to `places`, each at an even address. Runs `uploads` first.
void store_segments(DeviceContext& gpu, const FrameSlots& slots, const CodedSegments& segments,
                    std::span<std::byte* const> places, CopyList& uploads);

/// Consecutive encoded segments.
struct SegmentRun {
  const std::byte* begin;
  const std::byte* end;
  std::uint32_t first;  ///< segment
  std::uint32_t count;
};

/// Decodes into the values of lists. Runs `uploads` first. Reports damage as flaws.
void decode_segments(DeviceContext& gpu, const FrameSlots& slots,
                     std::span<const FrequencyTable> tables, std::span<const SegmentRun> runs,
                     std::uint32_t centre, CopyList& uploads);

}  // namespace cuszi::gpu
