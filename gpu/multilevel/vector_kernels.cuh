#pragma once

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "core/tuning/energy_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"
#include "gpu/multilevel/vector_pass.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

// quantise_pass(), restore_pass() and fill_contexts() for passes of large cubes whose rows are cut
// into whole vectors.

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
         is_aligned_for<Packed<QuantCode, Vec<T>::size>>(task.codes.in_row) &&
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

/// The thread blocks of a launch for these tiles.
template <class T>
dim3 vector_grid(const VectorPass<T>& pass, Tiles tiles) {
  std::uint32_t along_y = 0;
  std::uint32_t along_z = 1;
  for (std::uint32_t c = 0; c < pass.class_count; ++c) {
    const VectorClass<T>& own = pass.classes[c];
    if (tiles == Tiles::inner) along_z = std::max(along_z, own.z.inner());
    along_y = std::max(along_y, tiles == Tiles::inner ? own.y.inner() : own.tiles(tiles));
  }
  const std::uint32_t vectors = pass.classes[0].width / Vec<T>::size;
  return {blocks_for(vectors, VectorPolicy::vectors_of_warp * VectorPolicy::warps_x),
          blocks_for(along_y, VectorPolicy::warps_y), along_z * pass.class_count};
}

/// Calls f(family and tiles as constants, VectorPass, grid) for each launch of a pass.
template <class T, class F>
void with_vector_passes(const PassView<T>& pass, const F& f) {
  using std::integral_constant;
  const auto call = [&](auto family, std::initializer_list<std::uint32_t> numbers) {
    VectorPass<T> vectors{pass.array, pass.reach, 0, {}};
    for (const std::uint32_t number : numbers) {
      vectors.classes[vectors.class_count++] = vector_class(pass, number);
    }
    f(family, integral_constant<Tiles, Tiles::inner>{}, vectors,
      vector_grid(vectors, Tiles::inner));
    f(family, integral_constant<Tiles, Tiles::faces>{}, vectors,
      vector_grid(vectors, Tiles::faces));
  };
  // Classes of a pass: z, y, x; zy, zx, yx; zyx.
  switch (pass.host_classes[0].plan.points.order) {
    case 1:
      call(integral_constant<Family, Family::a>{}, {0, 1});
      call(integral_constant<Family, Family::x>{}, {2});
      return;
    case 2:
      call(integral_constant<Family, Family::ab>{}, {0});
      call(integral_constant<Family, Family::ax>{}, {1, 2});
      return;
    default: call(integral_constant<Family, Family::abx>{}, {0});
  }
}

}  // namespace cuszi::gpu
