#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/fidelity.hpp"
#include "core/field/mask.hpp"

namespace cuszi::cpu {

/// Both fields are of `dtype` and `dims`. Independent of the number of threads.
Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills);

}  // namespace cuszi::cpu
