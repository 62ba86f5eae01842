#pragma once

#include <optional>

#include "core/tiles/tiles.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Index and chunks of tiles. For logarithms see cpu::encode_values(). Synchronises.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const TilesParams& params, double bound,
                       const FrameInput<T>& frame);

/// Codes from a sample's range in `frame`; writes the exact range to `scan`. Returns nullopt if the
/// frame needs a scan: missing points, or a range too wide for the bound.
template <class T>
std::optional<OwnCoded> encode_unscanned(DeviceContext& gpu, const TilesParams& params,
                                         double bound, const FrameInput<T>& frame, FieldScan& scan);

/// See EncodeSession::encode_logs_unscanned().
template <class T>
std::optional<CodedLogs> encode_logs_unscanned(DeviceContext& gpu, const TilesParams& params,
                                               const TransformChoice& choice,
                                               const ValueBound& bound, const Extents3& extents,
                                               const T* values);

/// Asynchronous; also restores values from logarithms. Damage throws ArchiveError or sets a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu
