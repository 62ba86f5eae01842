#pragma once

#include <optional>

#include "core/tiles/tiles.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Codes a frame as tiles: where each chunk begins, and the chunks. Of logarithms the tiles have
/// the signs, and values that are kept in them are the original ones.
template <class T>
OwnCoded encode_values(const TilesParams& params, double bound, const FrameInput<T>& frame);

/// Codes a frame as tiles without knowing its range, which it writes to `scan`. None if a value is
/// not finite.
template <class T>
std::optional<OwnCoded> encode_unscanned(const TilesParams& params, double bound,
                                         const FrameInput<T>& frame, FieldScan& scan);

/// Decodes a frame that was coded as tiles; logarithms become values. Throws ArchiveError.
template <class T>
void decode_values(const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::cpu
