#pragma once

#include <span>
#include <vector>

#include "core/cells/params.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Codes a frame as cells: the sections of all passes.
template <class T>
std::vector<OwnCoded> encode_values(const CellsParams& params, double bound,
                                    const FrameInput<T>& frame);

/// Decodes the points of a frame of cells at the output's stride, from the sections of the passes
/// that it needs. Throws ArchiveError.
template <class T>
void decode_values(const CellsParams& params, std::span<const Sections> passes,
                   const FrameOutput<T>& output);

}  // namespace cuszi::cpu
