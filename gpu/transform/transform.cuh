#pragma once

#include "core/transform/transform.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// See cpu::transform_values(); `out` and the words of `negative`, a bit of each point, lie on the
/// device.
template <class T>
void transform_values(DeviceContext& gpu, const TransformChoice& choice, const ValueBound& bound,
                      const FillValues& fills, const RestoreRules<T>& rules, const T* values,
                      std::uint64_t points, T* out, std::uint64_t* negative);

/// See cpu::restore_values(); the values lie on the device.
template <class T>
void restore_values(DeviceContext& gpu, const TransformTarget& target, const Dims& dims, T* values);

}  // namespace cuszi::gpu
