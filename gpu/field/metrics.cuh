#pragma once

#include "core/field/fidelity.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/metrics.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Both fields are in device memory. Bit-identical to the CPU's measure_quality(). Synchronises.
Quality measure_quality(DeviceContext& gpu, DType dtype, Bytes original, Bytes restored,
                        const ValueRules& rules, const ValueBound& bound);

/// Both fields are in device memory. Bit-identical to the CPU's measure_fidelity(). Synchronises.
Fidelity measure_fidelity(DeviceContext& gpu, const FrameShape& shape, Bytes original,
                          Bytes restored, const FillValues& fills);

}  // namespace cuszi::gpu
