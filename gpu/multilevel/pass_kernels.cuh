#pragma once

#include <type_traits>

#include "core/tuning/context_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"
#include "gpu/multilevel/vector_pass.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

// Kernels for quantise_pass(), restore_pass() and fill_contexts() by geometry: large cubes whose
// rows are whole vectors; other cubes and slices (cube_point.cuh). They hold nearly all points of
// 2-D and 3-D frames.

template <class T>
bool has_vectors(const PassView<T>& pass);

template <class T>
bool fits_vectors(const PassView<T>& pass, const QuantiseTask<T>& task) {
  return has_vectors(pass) && task.missing.words == nullptr && task.local.bounds == nullptr &&
         task.zones == nullptr && is_aligned_for<Packed<QuantCode, Vec<T>::size>>(task.codes) &&
         is_aligned_for<Vec<T>>(task.listed);
}

template <class T>
bool fits_vectors(const PassView<T>& pass, const RestoreTask<T>& task) {
  return has_vectors(pass) && task.missing.words == nullptr && task.local.bounds == nullptr &&
         is_aligned_for<Packed<QuantCode, Vec<T>::size>>(task.codes) &&
         is_aligned_for<Vec<T>>(task.listed);
}

template <class T>
bool fits_vectors(const PassView<T>& pass, const std::uint8_t* contexts) {
  return has_vectors(pass) && is_aligned_for<Packed<std::uint8_t, Vec<T>::size>>(contexts);
}

template <class T>
void quantise_vectors(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);
template <class T>
void restore_vectors(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);
template <class T>
void fill_vector_contexts(DeviceContext& gpu, const PassView<T>& pass,
                          const ContextWeights* weights, std::uint8_t* contexts);

template <class T>
void quantise_cube(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);
template <class T>
void restore_cube(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);
template <class T>
void fill_cube_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                        std::uint8_t* contexts);

/// Calls f(order as a constant, VectorPass, grid).
template <class T, class F>
void with_vector_pass(const PassView<T>& pass, const F& f) {
  using std::integral_constant;
  const VectorPass<T> vectors = vector_pass(pass);
  const dim3 grid(vectors.blocks_at_faces + vectors.slabs * vectors.blocks_of_slab,
                  blocks_for(vectors.classes[0].width / Vec<T>::size,
                             VectorPolicy::vectors_of_warp * VectorPolicy::warps_x));
  switch (pass.host_classes[0].plan.points.order) {
    case 1: return f(integral_constant<int, 1>{}, vectors, grid);
    case 2: return f(integral_constant<int, 2>{}, vectors, grid);
    default: f(integral_constant<int, 3>{}, vectors, grid);
  }
}

}  // namespace cuszi::gpu
