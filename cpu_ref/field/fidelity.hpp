#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/fidelity.hpp"
#include "core/field/mask.hpp"

namespace cuszi::cpu {

/// Measures `restored` against `original`, both `dtype` and of these dims. The sums are made in
/// fixed parts, so the result does not depend on the number of threads.
Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills);

}  // namespace cuszi::cpu
