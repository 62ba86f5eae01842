#pragma once

#include "core/zfp/zfp_coding.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Stream, index, and patches of values beyond the bound or restored as fill values. Missing points
/// take the last valid value, initially the minimum. Synchronises.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const ZfpCoding& coding, double bound,
                       const FrameInput<T>& frame);

/// Asynchronous. Damage throws ArchiveError or sets a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const ZfpCoding& coding, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu
