#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "core/cells/anchors.hpp"
#include "core/cells/blocks.hpp"
#include "core/cells/head.hpp"
#include "core/cells/params.hpp"
#include "core/cells/quantiser.hpp"
#include "core/cells/weights.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/extremes.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

// The steps between the values of equal frames and their codes. Frames are equal if their extents,
// the ranks of their tiles, and whether rows are written by vectors are: one launch is for all.

/// What predicting and quantising a frame takes and makes, on the device.
template <class T>
struct PredictTask {
  CellGrid grid;
  CellsQuantizer<T> quantizer;
  RestoreRules<T> rules;
  const T* values;
  double half_step;
  CellsWeights* fitted;
  std::int32_t* anchors;     ///< of tiles
  ClassWeights<T>* weights;  ///< `fitted` as numbers, in the order of weight_sets
  std::int16_t* codes;       ///< [tile][block][code]
  std::uint8_t* classes;     ///< [tile][block]
  const CodedPoints* coded;
  RankedBits patches;
  unsigned long long* patch_counts;  ///< of passes
  bool has_missing;
  T certain;  ///< differences below this need no look at the rules
  LocalCellsQuantizers<T> local{};
  SharedExtremes* range = nullptr;  ///< of the values, if it is wanted; of all if some are infinite

  CUSZI_HD Extents3 extents() const { return {grid.extents[0], grid.extents[1], grid.extents[2]}; }
};
template <class T>
using PredictTasks = FrameTasks<PredictTask<T>>;

/// A difference from a value less the background below this is within the bound in spite of
/// rounding, if no rule matters.
template <class T>
T certain_difference(const CellsQuantizer<T>& quantizer) {
  if (quantizer.zone.any()) return 0;
  if (quantizer.background == 0) return quantizer.certain;
  const T largest = std::max(magnitude_of(quantizer.min), magnitude_of(quantizer.max)) +
                    magnitude_of(quantizer.background);
  return quantizer.certain - 4 * std::numeric_limits<T>::epsilon() * largest;
}

/// The quantisers of a frame's points under local bounds, as kernels read them; of values that
/// differ less from restored ones than the quantisers' `certain`, none needs a look at the rules.
template <class T>
LocalCellsQuantizers<T> local_quantizers(DeviceContext& gpu, const Extents3& extents,
                                         const LocalBounds& local,
                                         const CellsQuantizer<T>& quantizer);

/// The quantiser of a point, by its coordinates in the tile.
template <class T>
__device__ const CellsQuantizer<T>& local_quantizer(const LocalCellsQuantizers<T>& local,
                                                    const CellGrid& grid, const CellTile& tile,
                                                    int z, int y, int x) {
  const auto at = [&](int axis, int coordinate) {  // outside the field: that of the last point
    const std::uint64_t index = tile.first[axis] + static_cast<unsigned>(coordinate);
    return index < grid.extents[axis] ? index : grid.extents[axis] - 1;
  };
  return local.at(at(0, z), at(1, y), at(2, x));
}

/// Starts to find the integers of all anchors.
template <class T>
void find_anchors(DeviceContext& gpu, int rank, const PredictTasks<T>& frames);

/// The differences of the frames' anchors on their way to sections: widths of groups, and words
/// that are still apart.
struct PackedAnchors {
  std::uint32_t groups;  ///< of a frame
  const std::uint8_t* widths;
  const std::uint32_t* words;    ///< 32 for each group
  const std::uint64_t* offsets;  ///< words of groups before, and all
};
/// Starts to code the anchors of so many frames, which follow each other.
PackedAnchors pack_anchors(DeviceContext& gpu, const CellGrid& grid, const std::int32_t* anchors,
                           unsigned frames);
/// The bytes of a frame's anchors, given the words of its groups.
CUSZI_HD inline ByteCount anchor_bytes(const PackedAnchors& packed, std::uint64_t words) {
  return ceil_div(packed.groups, 4) * 4 + 4 * words;
}

/// A section of anchors, and where damage is told.
struct AnchorSection {
  const std::byte* bytes;
  std::uint64_t words;  ///< behind the widths
  std::uint32_t* flaws;

  /// Throws ArchiveError.
  AnchorSection(const CellGrid& grid, Bytes section, std::uint32_t* told);
};
/// Starts to restore the anchors of equal frames, which follow each other. Sets flaws.
std::int32_t* unpack_anchors(DeviceContext& gpu, const CellGrid& grid,
                             const FrameTasks<AnchorSection>& sections);

/// Starts to fit the weights of all classes to samples of the frames' values, also as numbers.
template <class T>
void fit_cell_weights(DeviceContext& gpu, int rank, const PredictTasks<T>& frames);

/// So many numbers are the weights of a frame.
std::uint64_t weight_numbers(int rank);
/// Starts to turn the weights of the heads of so many frames into numbers.
template <class T>
void number_weights(DeviceContext& gpu, int rank, const CellsHead* heads, unsigned frames,
                    ClassWeights<T>* numbers);

/// Starts to predict and quantise all points.
template <class T>
void predict_cells(DeviceContext& gpu, int rank, const PredictTasks<T>& frames);

/// Values of a vector of 16 bytes.
template <class T>
inline constexpr int vector_values = 16 / sizeof(T);

/// Whether rows of values that begin here can be written by vectors.
template <class T>
bool allows_vectors(const Extents3& extents, const T* values) {
  return extents[2] % vector_values<T> == 0 && reinterpret_cast<std::uintptr_t>(values) % 16 == 0;
}

/// What restoring a frame takes, on the device.
template <class T>
struct RestoreCellsTask {
  CellGrid grid;  ///< of the whole frame
  CellsQuantizer<T> quantizer;
  const std::int32_t* anchors;     ///< of tiles
  const ClassWeights<T>* weights;  ///< in the order of weight_sets
  const std::int16_t* codes;       ///< [tile][block][code], of blocks that have some
  const std::uint64_t* live;       ///< [tile]: which blocks have
  LocalCellsQuantizers<T> local;
  int stride;  ///< of the points that are restored
  std::uint64_t out_extents[axis_count];
  T* out;
};

/// Starts to restore the points of frames whose coordinates are multiples of the stride, from
/// tiles of this rank.
template <class T>
void restore_cells(DeviceContext& gpu, int rank, const FrameTasks<RestoreCellsTask<T>>& frames);

/// The section of the patches of a pass, given the rank of tiles, all points that are patched and
/// how many are of each pass. Waits, unless there are none.
template <class T>
Bytes list_patches(DeviceContext& gpu, int rank, const FrameInput<T>& frame,
                   const RankedBits& patches, int pass, std::span<const std::uint64_t> counts);

/// Starts to put patches in their places among the points that are restored.
template <class T>
void put_patches(DeviceContext& gpu, const FrameOutput<T>& frame, const SparseView& patches);

}  // namespace cuszi::gpu
