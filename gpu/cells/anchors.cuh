#pragma once

#include "core/cells/anchors.hpp"
#include "gpu/cells/cells_frame.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Starts to find the integers of all anchors.
template <class T>
std::int32_t* find_anchors(DeviceContext& gpu, const CellGrid& grid, int rank,
                           const CellsQuantizer<T>& quantizer, const FrameInput<T>& frame);

/// The differences of a frame's anchors on their way to a section: widths of groups, and words that
/// are still apart.
struct PackedAnchors {
  std::uint32_t groups;
  const std::uint8_t* widths;
  const std::uint32_t* words;    ///< 32 for each group
  const std::uint64_t* offsets;  ///< words of groups before, and all
};
/// Starts to code anchors.
PackedAnchors pack_anchors(DeviceContext& gpu, const CellGrid& grid, const std::int32_t* anchors);
/// Starts to write the section, whose size is anchors_bytes().
void store_anchors(DeviceContext& gpu, const PackedAnchors& packed, std::byte* out);

/// Starts to restore anchors from their section. Throws ArchiveError, or sets a flaw.
const std::int32_t* unpack_anchors(DeviceContext& gpu, const CellGrid& grid, Bytes section);

}  // namespace cuszi::gpu
