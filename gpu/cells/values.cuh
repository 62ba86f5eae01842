#pragma once

#include <span>

#include "core/cells/anchors.hpp"
#include "core/cells/blocks.hpp"
#include "core/cells/params.hpp"
#include "core/cells/quantiser.hpp"
#include "core/cells/weights.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

// The steps between the values of a frame and its codes.

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

/// Starts to fit the weights of all classes to samples of a frame's values.
template <class T>
void fit_cell_weights(DeviceContext& gpu, const CellsParams& params,
                      const CellsQuantizer<T>& quantizer, const FrameInput<T>& frame,
                      CellsWeights* weights);

/// Starts to turn weights into numbers, in the order of weight_sets.
template <class T>
const ClassWeights<T>* numbers_of_weights(DeviceContext& gpu, int rank,
                                          const CellsWeights* weights);

/// What predicting and quantising a frame takes and makes, on the device.
template <class T>
struct PredictTask {
  CellGrid grid;
  CellsQuantizer<T> quantizer;
  RestoreRules<T> rules;
  const T* values;
  const std::int32_t* anchors;     ///< of tiles
  const ClassWeights<T>* weights;  ///< in the order of weight_sets
  std::int16_t* codes;             ///< [tile][block][code]
  std::uint8_t* classes;           ///< [tile][block]
  const CodedPoints* coded;
  RankedBits patches;
  unsigned long long* patch_counts;  ///< of passes
  bool has_missing;
  T certain = 0;  ///< differences below this need no look at the rules; set by predict_cells()
};

/// Starts to predict and quantise all points of a frame, in tiles of this rank.
template <class T>
void predict_cells(DeviceContext& gpu, int rank, const PredictTask<T>& task,
                   const Extents3& extents);

/// What restoring a frame takes, on the device.
template <class T>
struct RestoreCellsTask {
  CellGrid grid;  ///< of the whole frame
  CellsQuantizer<T> quantizer;
  const std::int32_t* anchors;     ///< of tiles
  const ClassWeights<T>* weights;  ///< in the order of weight_sets
  const std::int16_t* codes;       ///< [tile][block][code], of blocks that have some
  const std::uint64_t* live;       ///< [tile]: which blocks have
  int stride;                      ///< of the points that are restored
  std::uint64_t out_extents[axis_count];
  T* out;
};

/// Starts to restore the points of a frame whose coordinates are multiples of the stride, from
/// tiles of this rank.
template <class T>
void restore_cells(DeviceContext& gpu, int rank, const RestoreCellsTask<T>& task,
                   const Extents3& extents);

/// The section of the patches of a pass, given the rank of tiles, all points that are patched and
/// how many are of each pass. Waits, unless there are none.
template <class T>
Bytes list_patches(DeviceContext& gpu, int rank, const FrameInput<T>& frame,
                   const RankedBits& patches, int pass, std::span<const std::uint64_t> counts);

/// Starts to put patches in their places among the points that are restored.
template <class T>
void put_patches(DeviceContext& gpu, const FrameOutput<T>& frame, const SparseView& patches);

}  // namespace cuszi::gpu
