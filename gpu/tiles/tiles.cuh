#pragma once

#include <optional>

#include "core/tiles/tiles.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Codes a frame as tiles, within the absolute error `bound`: where each chunk begins, and the
/// chunks. See cpu::encode_values() of logarithms. Waits.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const TilesParams& params, double bound,
                       const FrameInput<T>& frame);

/// Codes a frame without fill values as tiles, after no more than a sample of it has been seen:
/// `frame` has the sample's range, and `scan` gets the range of all values. Returns nothing if the
/// frame needs a scan first: points are missing, or the range is too wide for the bound.
template <class T>
std::optional<OwnCoded> encode_unscanned(DeviceContext& gpu, const TilesParams& params,
                                         double bound, const FrameInput<T>& frame, FieldScan& scan);

/// Codes a frame by the logarithms of its values, see EncodeSession::encode_logs_unscanned().
template <class T>
std::optional<CodedLogs> encode_logs_unscanned(DeviceContext& gpu, const TilesParams& params,
                                               const TransformChoice& choice,
                                               const ValueBound& bound, const Extents3& extents,
                                               const T* values);

/// Starts to restore a frame that encode_values() has coded as tiles; logarithms become values.
/// Throws ArchiveError, or sets a flaw, if the sections are not those of such a frame.
template <class T>
void decode_values(DeviceContext& gpu, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu
