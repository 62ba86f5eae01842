#pragma once

#include "gpu/cells/coding.cuh"
#include "gpu/cells/values.cuh"

namespace cuszi::gpu {

// From coded segments to the sections of archives.

/// What the host has to know of a coded frame before its sections can be written.
struct CodedSizes {
  bool has_codes[most_cell_passes];
  std::uint32_t code_segments[most_cell_passes];
  std::uint64_t classes_at[most_cell_passes];  ///< where the chains of classes of a pass begin
  std::uint64_t codes_at[most_cell_passes];
  std::uint64_t end;
  ByteCount list_bytes[most_cell_passes];  ///< behind the chains of classes
  std::uint64_t patches[most_cell_passes];
  std::uint64_t anchor_words;
  std::uint32_t has_overflown;
};

/// Starts to find where the segments of frames go, one after the other: `offsets` are those of the
/// `entries` segments of each frame, and the end. Reports sizes and heads in page-locked memory.
void place_segments(DeviceContext& gpu, const ChainEncodeTasks& frames, std::uint32_t entries,
                    std::uint64_t* offsets, const unsigned long long* patch_counts,
                    const PackedAnchors& anchors, const CellsHead* heads, CodedSizes* sizes,
                    CellsHead* coded_heads);

/// Where the sections of a frame go. All but the head are aligned to 4 bytes.
struct SectionPlaces {
  std::byte* head;
  const std::byte* staged_head;  ///< in page-locked memory
  ByteCount head_bytes;
  std::byte* anchors;
  std::byte* index[most_cell_passes];  ///< null for a pass without codes
  std::byte* classes[most_cell_passes];
  std::byte* lists[most_cell_passes];
  std::byte* codes[most_cell_passes];
};

/// Starts to write the sections of frames, given the arrays of the first one's segments.
void store_sections(DeviceContext& gpu, const ChainEncodeTask& first, std::uint32_t entries,
                    const std::uint64_t* offsets, const PackedAnchors& anchors,
                    const FrameTasks<SectionPlaces>& places);

}  // namespace cuszi::gpu
