#pragma once

#include "core/field/fidelity.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/mask.hpp"
#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// Measures `restored` against `original`, both in the device's memory: what the CPU's
/// measure_fidelity() says of them, bit for bit. Waits.
Fidelity measure_fidelity(Work& work, const FrameShape& shape, Bytes original, Bytes restored,
                          const FillValues& fills);

}  // namespace cuszi::gpu
