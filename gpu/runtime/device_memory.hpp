#pragma once

#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// Whether this is memory that kernels may use as it is.
bool is_on_device(const void* memory);

/// The bytes in the device's memory: themselves or a copy.
Bytes bring(Work& work, Bytes bytes);

}  // namespace cuszi::gpu
