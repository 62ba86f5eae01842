#pragma once

#include "gpu/multilevel/context.cuh"

namespace cuszi::gpu {

/// fill_contexts() for cubes and slices (cube_point.cuh).
template <class T>
void fill_cube_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                        std::uint8_t* contexts);

}  // namespace cuszi::gpu
