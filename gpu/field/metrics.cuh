#pragma once

#include "core/field/fidelity.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/metrics.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Measures the quality of `restored` against `original`, both in the device's memory. Equals the
/// CPU's measure_quality() bit for bit. Waits.
Quality measure_quality(DeviceContext& gpu, DType dtype, Bytes original, Bytes restored,
                        const ValueRules& rules, const ValueBound& bound);

/// Measures the fidelity of `restored` to `original`, both in the device's memory. Equals the CPU's
/// measure_fidelity() bit for bit. Waits.
Fidelity measure_fidelity(DeviceContext& gpu, const FrameShape& shape, Bytes original,
                          Bytes restored, const FillValues& fills);

}  // namespace cuszi::gpu
