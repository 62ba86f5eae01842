#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/metrics.hpp"

namespace cuszi::cpu {

/// Measures `restored` against `original`, both `dtype`, of the same size. The sums are made in
/// fixed blocks, so the result does not depend on the number of threads.
Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const ValueBound& bound);
/// Under bounds of the points, with Quality::max_of_bound.
Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const PointBounds& bounds);

}  // namespace cuszi::cpu
