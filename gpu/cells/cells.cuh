#pragma once

#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/cells/head.hpp"
#include "core/cells/params.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

/// A frame, and where what its sample tells goes, in memory that the device reaches.
template <class T>
struct BackgroundTask {
  const T* values;
  std::uint64_t points;
  MissingTest<T> missing;
  CellsSample* sample;
};
/// Starts to find the backgrounds of frames, and what else samples tell.
template <class T>
void find_backgrounds(DeviceContext& gpu, const FrameTasks<BackgroundTask<T>>& frames);

/// A frame that is to be coded as cells.
template <class T>
struct CellsInput {
  CellsParams params;
  double bound;
  FrameInput<T> frame;
  bool is_scanned = true;  ///< else its range is found, and no point may be missing
};

/// Starts to code frames of one type, of which those that are equal (see values.cuh) share their
/// launches. Call the result, which is the passes of each, after the next sync(). It waits if there
/// are patches, or codes that take more words than usual.
template <class T>
std::function<std::vector<std::vector<OwnCoded>>()> start_to_encode_cells(
    DeviceContext& gpu, std::span<const CellsInput<T>> frames);

/// Codes a frame as cells: the sections of all passes. Waits.
template <class T>
std::vector<OwnCoded> encode_values(DeviceContext& gpu, const CellsParams& params, double bound,
                                    const FrameInput<T>& frame) {
  const CellsInput<T> input{params, bound, frame};
  const auto finish = start_to_encode_cells<T>(gpu, std::span(&input, 1));
  gpu.sync();
  return std::move(finish().front());
}

/// A coded frame, and the exact range of its values.
struct RangedCells {
  std::vector<OwnCoded> passes;
  double min;
  double max;
};
/// Codes a frame that is not scanned. nullopt if a value is not finite. Waits.
template <class T>
std::optional<RangedCells> encode_unscanned(DeviceContext& gpu, const CellsParams& params,
                                            double bound, const FrameInput<T>& frame);

/// What the host reads of a frame of cells before it is decoded.
struct CellsPlan {
  CellsHead head;
  std::uint32_t of_classes[most_cell_passes] = {};  ///< segments of a pass
  std::uint32_t of_codes[most_cell_passes] = {};

  std::uint64_t segments() const {
    return std::accumulate(of_classes, of_classes + most_cell_passes, std::uint64_t{0}) +
           std::accumulate(of_codes, of_codes + most_cell_passes, std::uint64_t{0});
  }

  /// `codebook` is on the host, the sections of the passes that are needed on the device. Throws
  /// ArchiveError.
  CellsPlan(const CellsParams& params, std::uint64_t tiles, std::span<const Sections> passes,
            Bytes codebook);
};

/// A frame of cells that is to be restored at the output's stride.
template <class T>
struct CellsOutput {
  CellsParams params;
  std::span<const Sections> passes;
  FrameOutput<T> frame;
  std::uint32_t* flaws;  ///< told here, or in those of the context
  Bytes codebook{};      ///< on the host; empty if it has to be copied
};

/// Starts to restore frames of one type. The host waits once, unless it knows their codebooks and
/// there are no patches. refused(i, error) is called for
/// those that are damaged, by several threads; others have their flaws set.
template <class T>
void start_to_decode_cells(DeviceContext& gpu, std::span<const CellsOutput<T>> frames,
                           const std::function<void(std::size_t, const ArchiveError&)>& refused);

/// Starts to restore the points of a frame of cells at the output's stride, from the sections of
/// the passes that it needs, given the codebook if it is on the host. Throws ArchiveError, or sets
/// a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const CellsParams& params, std::span<const Sections> passes,
                   Bytes codebook, const FrameOutput<T>& frame) {
  const CellsOutput<T> output{params, passes, frame, gpu.flaws(), codebook};
  start_to_decode_cells<T>(gpu, std::span(&output, 1),
                           [](std::size_t, const ArchiveError& error) { throw error; });
}

}  // namespace cuszi::gpu
