#pragma once

#include "core/zfp/zfp_coding.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// A frame as a zfp stream with its index, and patches of what it restores beyond the bound or as a
/// fill value. In the place of a missing value stands the last one before it that is not, or the
/// smallest. Waits.
template <class T>
OwnCoded encode_values(Work& work, const ZfpCoding& coding, double bound,
                       const FrameInput<T>& frame);

/// Starts to restore it. Throws ArchiveError, or sets a flaw, if the sections are not those of such
/// a frame.
template <class T>
void decode_values(Work& work, const ZfpCoding& coding, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu
