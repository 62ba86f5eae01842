#pragma once

#include <optional>

#include "core/tiles/tiles.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// For logarithms, tiles hold the signs, and exact values are the originals.
template <class T>
OwnCoded encode_values(const TilesParams& params, double bound, const FrameInput<T>& frame);

/// Without a prior scan; writes the range to `scan`. Returns nullopt if a value is not finite.
template <class T>
std::optional<OwnCoded> encode_unscanned(const TilesParams& params, double bound,
                                         const FrameInput<T>& frame, FieldScan& scan);

/// Also restores values from logarithms. Throws ArchiveError.
template <class T>
void decode_values(const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::cpu
