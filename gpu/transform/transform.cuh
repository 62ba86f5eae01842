#pragma once

#include "core/transform/transform.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// `negative` has a bit per point.
template <class T>
void transform_values(DeviceContext& gpu, const TransformChoice& choice, const ValueBound& bound,
                      const FillValues& fills, const RestoreRules<T>& rules, const T* values,
                      std::uint64_t points, T* out, std::uint64_t* negative);

/// cpu::restore_values() on the device.
template <class T>
void restore_values(DeviceContext& gpu, const TransformTarget& target, const Dims& dims, T* values);

}  // namespace cuszi::gpu
