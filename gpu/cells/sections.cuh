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

/// Where the sections of a frame may go, and its head, in page-locked memory.
struct SectionRoom {
  std::byte* memory;  ///< aligned to 4 bytes
  ByteCount bytes;
  const std::byte* head;
  ByteCount head_bytes;
};

/// Where the sections of a frame go: one after the other, all but the head aligned to 4 bytes.
struct SectionPlaces {
  std::byte* head;
  std::byte* anchors;
  std::byte* index[most_cell_passes];  ///< null for a pass without codes
  std::byte* classes[most_cell_passes];
  std::byte* lists[most_cell_passes];
  std::byte* codes[most_cell_passes];
  std::byte* end;

  CUSZI_HD bool fit(const SectionRoom& room) const { return end <= room.memory + room.bytes; }
};

CUSZI_HD inline std::uint32_t segments_of(const CellsChains& chains, const CodedSizes& sizes,
                                          int pass) {
  return chains.segments[pass].of_classes + sizes.code_segments[pass];
}
CUSZI_HD inline std::uint64_t end_of_chains(const CellsChains& chains, const CodedSizes& sizes,
                                            int pass) {
  return pass + 1 < chains.passes ? sizes.classes_at[pass + 1] : sizes.end;
}
CUSZI_HD inline SectionPlaces places_in(const SectionRoom& room, const CellsChains& chains,
                                        const PackedAnchors& anchors, const CodedSizes& sizes) {
  SectionPlaces places{};
  places.head = room.memory + (4 - room.head_bytes % 4) % 4;
  places.anchors = places.head + room.head_bytes;
  std::byte* at = places.anchors + anchor_bytes(anchors, sizes.anchor_words);
  for (int pass = 0; pass < chains.passes; ++pass) {
    if (!sizes.has_codes[pass]) continue;
    places.index[pass] = at;
    places.classes[pass] = at + 4 * ByteCount{segments_of(chains, sizes, pass)};
    places.lists[pass] = places.classes[pass] + (sizes.codes_at[pass] - sizes.classes_at[pass]);
    places.codes[pass] = places.lists[pass] + sizes.list_bytes[pass];
    at = places.codes[pass] + (end_of_chains(chains, sizes, pass) - sizes.codes_at[pass]);
  }
  places.end = at;
  return places;
}

/// Starts to find the sizes of coded frames, which it reports in page-locked memory, and to write
/// their sections, unless a frame has overflown or its sections do not fit its room. Every frame
/// has `entries` segments at most; `offsets` is memory for as many numbers a frame and one more,
/// `places` for one a frame.
void store_sections(DeviceContext& gpu, const ChainEncodeTasks& frames,
                    const FrameTasks<SectionRoom>& rooms, std::uint32_t entries,
                    std::uint64_t* offsets, SectionPlaces* places,
                    const unsigned long long* patch_counts, const PackedAnchors& anchors,
                    CodedSizes* sizes);

}  // namespace cuszi::gpu
