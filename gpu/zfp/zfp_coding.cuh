#pragma once

#include "core/zfp/zfp_coding.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Codes a frame as a zfp stream with its index. Values that zfp restores beyond the bound or as a
/// fill value become patches. A missing value is coded as the last value before it that is not
/// missing, else as the smallest value. Waits.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const ZfpCoding& coding, double bound,
                       const FrameInput<T>& frame);

/// Starts to restore a frame that encode_values() has coded. Throws ArchiveError, or sets a flaw,
/// if the sections are not those of such a frame.
template <class T>
void decode_values(DeviceContext& gpu, const ZfpCoding& coding, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu
