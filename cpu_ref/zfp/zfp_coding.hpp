#pragma once

#include "core/zfp/zfp_coding.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Stream, index, and patches of points beyond the bound or restored as fill values. Missing points
/// take the last valid value, initially the minimum.
template <class T>
OwnCoded encode_values(const ZfpCoding& coding, double bound, const FrameInput<T>& frame);

/// Throws ArchiveError.
template <class T>
void decode_values(const ZfpCoding& coding, const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu
