#include "gpu/multilevel/pass_kernels.cuh"

namespace cuszi::gpu {

namespace {

/// Inner tiles have all neighbours of their points.
template <class T>
TileAxis tile_axis(const PassView<T>& pass, const PointClass& points, unsigned axis) {
  static_assert(VectorPolicy::least_edge >= 32);
  const std::uint64_t margin = points.is_odd(axis) ? static_cast<std::uint64_t>(pass.reach) : 2;
  const std::uint64_t extent = pass.array.layout.extents[axis];
  TileAxis tiles;
  tiles.points = static_cast<std::uint32_t>(points.count[axis]);
  tiles.all = ceil_div(tiles.points, 4U);
  tiles.begin = 1;
  tiles.end = tiles.points / 4;
  // The last point of a tile stands 6 behind its first.
  while (points.first[axis] + std::uint64_t{8} * tiles.end - 2 + margin >= extent) --tiles.end;
  return tiles;
}

template <class T>
VectorClass<T> vector_class(const PassView<T>& pass, const ClassPlan<T>& plan) {
  const PointClass& points = plan.points;
  VectorClass<T> own{};
  std::copy(plan.weights.begin(), plan.weights.end(), own.weights);
  own.background = plan.background;
  own.snap = plan.snap;
  own.slope_scale = plan.slope_scale;
  own.spread_scale = plan.spread_scale;
  own.start = points.start;
  own.width = static_cast<std::uint32_t>(points.count[3]);
  own.group = points.group;
  own.z = tile_axis(pass, points, 1);
  own.y = tile_axis(pass, points, 2);
  own.z_odd = points.is_odd(1) ? 1 : 0;
  own.y_odd = points.is_odd(2) ? 1 : 0;
  own.a_is_y = !points.is_odd(1) && points.is_odd(2);
  return own;
}

}  // namespace

template <class T>
bool has_vectors(const PassView<T>& pass) {
  const LevelLayout& layout = pass.array.layout;
  return pass.geometry == Geometry::cube && layout.extents[0] == 1 && layout.extents[3] % 8 == 0 &&
         layout.points() > VectorPolicy::least_points &&
         std::all_of(layout.extents.begin() + 1, layout.extents.end(),
                     [](std::uint64_t extent) { return extent >= VectorPolicy::least_edge; }) &&
         is_aligned_for<Vec<T>>(pass.array.values);
}

template <class T>
VectorPass<T> vector_pass(const PassView<T>& pass) {
  VectorPass<T> vectors{pass.array, pass.reach, 0, 0, 0, 0, {}};
  for (std::uint32_t i = 0; i < pass.class_count; ++i) {
    VectorClass<T> own = vector_class(pass, pass.host_classes[i].plan);
    own.first_at_faces = vectors.blocks_at_faces;
    own.first_in_slab = vectors.blocks_of_slab;
    vectors.blocks_at_faces += blocks_for(own.tiles_at_faces(), VectorPolicy::warps_y);
    vectors.blocks_of_slab += blocks_for(own.y.inner(), VectorPolicy::warps_y);
    vectors.slabs = std::max(vectors.slabs, own.z.inner());
    vectors.classes[vectors.class_count++] = own;
  }
  return vectors;
}

template bool has_vectors(const PassView<float>&);
template bool has_vectors(const PassView<double>&);
template VectorPass<float> vector_pass(const PassView<float>&);
template VectorPass<double> vector_pass(const PassView<double>&);

}  // namespace cuszi::gpu
