#pragma once

#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

// quantise_pass() and restore_pass() for the passes of cubes and slices (see cube_point.cuh), which
// hold nearly all points of frames of two and three dimensions.

template <class T>
void quantise_cube(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);
template <class T>
void restore_cube(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);

}  // namespace cuszi::gpu
