#pragma once

#include "core/zfp/zfp_coding.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// A frame as a zfp stream with its index, and patches of what it restores beyond the bound or as a
/// fill value. In the place of a missing value stands the last one before it that is not, or the
/// smallest.
template <class T>
OwnCoded encode_values(const ZfpCoding& coding, double bound, const FrameInput<T>& frame);

/// Decodes a frame that encode_values() has coded as a zfp stream. Throws ArchiveError.
template <class T>
void decode_values(const ZfpCoding& coding, const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu
