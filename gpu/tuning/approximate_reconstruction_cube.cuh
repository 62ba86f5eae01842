#pragma once

#include "core/tuning/approximate_reconstruction.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// What is restored of the points of a pass of cubes or slices (see cube_point.cuh), whose level's
/// array has originals; `made` is an array of the frame. The weights are those on the device.
template <class T>
void approximate_cube(DeviceContext& gpu, const PassView<T>& pass,
                      const ApproximateReconstruction<T>& approximation, T* made);

}  // namespace cuszi::gpu
