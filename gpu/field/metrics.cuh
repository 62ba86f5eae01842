#pragma once

#include <optional>

#include "core/base/dtype.hpp"
#include "core/field/mask.hpp"
#include "core/field/metrics.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Measures the quality of `restored` against `original`, both in the device's memory. Equals the
/// CPU's measure_quality() bit for bit. Waits.
Quality measure_quality(DeviceContext& gpu, DType dtype, Bytes original, Bytes restored,
                        const FillValues& fills, double bound);

}  // namespace cuszi::gpu
