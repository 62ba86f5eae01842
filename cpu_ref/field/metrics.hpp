#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/mask.hpp"
#include "core/field/metrics.hpp"

namespace cuszi::cpu {

/// Both fields are of `dtype` and equal size. Independent of the number of threads.
Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const ValueBound& bound);
/// Includes Quality::max_of_bound.
Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const PointBounds& bounds);

}  // namespace cuszi::cpu
