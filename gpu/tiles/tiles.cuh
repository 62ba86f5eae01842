#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/tiles/tiles.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// A frame that is to be coded as tiles.
template <class T>
struct TilesInput {
  TilesParams params;
  double bound;
  FrameInput<T> frame;
};

/// Index and chunks of tiles. For logarithms see cpu::encode_values(). Synchronises.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const TilesParams& params, double bound,
                       const FrameInput<T>& frame);

/// A coded frame, and the exact range of its values.
struct RangedTiles {
  OwnCoded coded;
  double min;
  double max;
};

/// Starts to code frames of one type, whose ranges are those of samples, in as few launches as
/// their shapes allow. Call the result after the next sync(), while `frames` exist; it waits if
/// codes take more room than usual. nullopt for a frame that needs a scan (missing points, or a
/// range too wide for the bound) or takes no fewer bytes than its values.
template <class T>
std::function<std::vector<std::optional<RangedTiles>>()> start_to_encode_tiles(
    DeviceContext& gpu, std::span<const TilesInput<T>> frames);

/// Codes one such frame. Synchronises.
template <class T>
std::optional<RangedTiles> encode_unscanned(DeviceContext& gpu, const TilesParams& params,
                                            double bound, const FrameInput<T>& frame) {
  const TilesInput<T> input{params, bound, frame};
  const auto finish = start_to_encode_tiles<T>(gpu, std::span(&input, 1));
  gpu.sync();
  return std::move(finish().front());
}

/// See EncodeSession::encode_logs_unscanned().
template <class T>
std::optional<CodedLogs> encode_logs_unscanned(DeviceContext& gpu, const TilesParams& params,
                                               const TransformChoice& choice,
                                               const ValueBound& bound, const Extents3& extents,
                                               const T* values);

/// A frame of tiles that is to be restored.
template <class T>
struct TilesOutput {
  TilesParams params;
  std::span<const Sections> passes;
  FrameOutput<T> frame;
  std::uint32_t* flaws;
};

/// Starts to restore frames of one type, also from logarithms. refused(i, error) is called for
/// those that are damaged; others have their flaws set.
template <class T>
void start_to_decode_tiles(DeviceContext& gpu, std::span<const TilesOutput<T>> frames,
                           const std::function<void(std::size_t, const ArchiveError&)>& refused);

/// Starts to restore a frame. Throws ArchiveError, or sets a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame) {
  const TilesOutput<T> output{params, std::span(&sections, 1), frame, gpu.flaws()};
  start_to_decode_tiles<T>(gpu, std::span(&output, 1),
                           [](std::size_t, const ArchiveError& error) { throw error; });
}

}  // namespace cuszi::gpu
