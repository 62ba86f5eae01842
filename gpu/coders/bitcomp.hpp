#pragma once

#include "core/archive/frame.hpp"
#include "core/base/dtype.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Packs those sections of a frame of `dtype` by Bitcomp, NVIDIA's lossless codec, that get
/// noticeably smaller by it (cuSZ-i, SC'24, VI-B). Waits. Throws DeviceError.
void bitcomp_pack(DeviceContext& gpu, DType dtype, Sections& sections);

/// Unpacks sections that bitcomp_pack() has packed. The hash of the packed bytes must have excluded
/// damage: at damaged bytes nvCOMP may make the device fail. Waits. Throws ArchiveError if a
/// section does not get its original size, DeviceError.
void bitcomp_unpack(DeviceContext& gpu, Sections& sections);

}  // namespace cuszi::gpu
