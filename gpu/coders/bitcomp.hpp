#pragma once

#include "core/archive/frame.hpp"
#include "core/base/dtype.hpp"
#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// Packs those sections of a frame of `dtype` by Bitcomp, NVIDIA's lossless codec, that get
/// noticeably smaller by it (cuSZ-i, SC'24, VI-B). Waits. Throws DeviceError.
void bitcomp_pack(Work& work, DType dtype, Sections& sections);

/// The inverse. Damage must have been excluded by the hash of the packed bytes: nvCOMP may make the
/// device fail at it. Waits. Throws ArchiveError if a section does not become what it was made of,
/// DeviceError.
void bitcomp_unpack(Work& work, Sections& sections);

}  // namespace cuszi::gpu
