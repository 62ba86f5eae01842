#pragma once

#include "core/field/metrics.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Both fields are in device memory, not of 64-bit integers. Bit-identical to the CPU's
/// measure_quality(). Synchronises.
Quality measure_quality(DeviceContext& gpu, DType dtype, Bytes original, Bytes restored,
                        const ValueRules& rules, const ValueBound& bound);

}  // namespace cuszi::gpu
