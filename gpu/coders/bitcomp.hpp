#pragma once

#include "core/archive/frame.hpp"
#include "core/base/dtype.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Packs sections by nvCOMP's Bitcomp where that saves enough (cuSZ-i, SC'24, VI-B). Synchronises.
/// Throws DeviceError.
void bitcomp_pack(DeviceContext& gpu, DType dtype, Sections& sections);

/// The sections' hash must have been verified: nvCOMP may crash the device on damaged bytes.
/// Synchronises. Throws ArchiveError if the size is wrong, DeviceError.
void bitcomp_unpack(DeviceContext& gpu, Sections& sections);

}  // namespace cuszi::gpu
