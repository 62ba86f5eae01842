#pragma once

#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

// quantise_pass() and restore_pass() for cubes and slices (cube_point.cuh): nearly all points of
// 2-D and 3-D frames.

template <class T>
void quantise_cube(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);
template <class T>
void restore_cube(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);

}  // namespace cuszi::gpu
