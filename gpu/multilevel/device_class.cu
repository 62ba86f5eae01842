#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "gpu/multilevel/cube_point.cuh"
#include "gpu/multilevel/device_class.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Distances in the level's array; along split rows, for points whose x has one parity.
class Distances {
 public:
  Distances(const PointClass& points, const LevelLayout& layout)
      : points_(points), layout_(layout) {}

  std::int64_t of(const Tap& tap) const {
    std::int64_t offset = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      offset += tap[axis] * static_cast<std::int64_t>(points_.unit[axis] * layout_.strides[axis]);
    }
    const std::int64_t x = tap[3] * static_cast<std::int64_t>(points_.unit[3]);
    return offset + (layout_.odd == 0 || x == 0 ? x : in_split_row(x));
  }

 private:
  std::int64_t in_split_row(std::int64_t x) const {
    constexpr std::int64_t far = 16;  // makes dividends positive
    const auto place = [&](std::int64_t at) { return (at % 2) * layout_.odd + at / 2; };
    const auto from = far + static_cast<std::int64_t>(points_.first[3] % 2);
    return place(from + x) - place(from);
  }

  const PointClass& points_;
  const LevelLayout& layout_;
};

/// Converts coordinates to the level's spacings along lattice axes.
PointClass in_level(PointClass points, const Lattice& lattice) {
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (lattice.roles[axis] != AxisRole::lattice) continue;
    const std::uint64_t spacing = points.unit[axis];
    points.first[axis] /= spacing;
    points.step[axis] /= spacing;
    points.unit[axis] = 1;
  }
  return points;
}

Index4 in_level(Index4 margins, const Lattice& lattice, const Index4& unit) {
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (lattice.roles[axis] == AxisRole::lattice) margins[axis] /= unit[axis];
  }
  return margins;
}

}  // namespace

RegionShape RegionShape::of(const Grid& grid) {
  const auto bits_of = [](std::uint64_t power) {
    return static_cast<std::uint32_t>(std::countr_zero(power));
  };
  RegionShape shape;
  shape.tile1_bits = bits_of(grid.tile[1]);
  shape.tile2_bits = bits_of(grid.tile[2]);
  shape.tile3_bits = bits_of(grid.tile[3]);
  shape.width_bits = bits_of(RegionPolicy::points) - shape.tile1_bits - shape.tile2_bits;
  return shape;
}

template <class T>
DeviceClass<T> view_of(const ClassPlan<T>& plan, const Lattice& lattice, const LevelLayout& layout,
                       const RegionShape& shape) {
  DeviceClass<T> view;
  view.plan = plan;
  view.plan.points = in_level(plan.points, lattice);
  view.plan.stencil_margins = in_level(plan.stencil_margins, lattice, plan.points.unit);
  view.plan.context_margins = in_level(plan.context_margins, lattice, plan.points.unit);
  view.grid = LevelPointer<T>::grid_of(layout);
  const PointClass& points = view.plan.points;
  const Distances distances(points, layout);
  for (unsigned i = 0; i < plan.stencil.all_taps(); ++i) {
    view.plan.stencil_offsets[i] = distances.of(plan.stencil.taps[i]);
  }
  for (unsigned i = 0; i < plan.context_taps.all_taps(); ++i) {
    view.plan.context_offsets[i] = distances.of(plan.context_taps.taps[i]);
  }
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!points.is_odd(axis)) continue;
    for (int i = 0; i < 4; ++i) {
      view.line_offsets[axis][static_cast<unsigned>(i)] = distances.of(tap_at(axis, 2 * i - 3));
    }
  }
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    view.row_steps[axis] = points.step[axis] * layout.strides[axis];
    view.original_steps[axis] = points.step[axis] * layout.original_strides[axis];
  }
  view.regions = {points.count[0], ceil_div(points.count[1], shape.tile1()),
                  ceil_div(points.count[2], shape.tile2()),
                  ceil_div(points.count[3], shape.width())};
  return view;
}

template <class T>
PassView<T> view_of(const LevelArray<T>& array, std::span<const DeviceClass<T>> classes,
                    const DeviceClass<T>* on_device, const RegionShape& shape) {
  constexpr std::uint64_t most_slabs = 65535;
  PassView<T> view;
  view.array = array;
  view.classes = on_device;
  view.host_classes = classes.data();
  view.class_count = static_cast<std::uint32_t>(classes.size());
  view.shape = shape;
  std::uint64_t rows = 1;
  std::uint64_t slabs = 1;
  for (const DeviceClass<T>& c : classes) {
    rows = std::max(rows, c.regions[2] * c.regions[3]);
    slabs = std::max(slabs, c.regions[0] * c.regions[1]);
  }
  view.grid =
      dim3(grid_of(rows), view.class_count, static_cast<unsigned>(std::min(slabs, most_slabs)));
  return view;
}

template <class T>
Geometry geometry_of(const Lattice& lattice, const DeviceClass<T>& view,
                     const LevelLayout& layout) {
  const auto is_lattice = [&](unsigned axis) {
    return lattice.roles[axis] == AxisRole::lattice && lattice.extents[axis] > 1;
  };
  const unsigned rank = !is_lattice(1) ? 2 : 3;
  if ((lattice.layered_axis() >= 0 && rank == 3) || layout.odd == 0 ||
      view.plan.points.order == 0 || lattice.rank != static_cast<int>(rank) || !is_lattice(2) ||
      !is_lattice(3)) {
    return Geometry::any;
  }
  const auto fastest = layout.extents.end() - rank;
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, std::uint64_t{1}, std::multiplies<>());
  };
  // Launches have blocks for the slices of each class.
  const std::uint64_t classes = rank == 2 ? SliceClasses<false, false>::count : 1;
  const bool fits =
      product(lattice.extents.begin(), lattice.extents.end()) <= CubePolicy::most_points &&
      product(layout.extents.begin(), layout.extents.begin() + 2) * classes <=
          CubePolicy::most_slices &&
      std::all_of(fastest, layout.extents.end(), [](std::uint64_t extent) {
        return extent >= CubePolicy::least && extent <= CubePolicy::most;
      });
  if (!fits) return Geometry::any;
  return rank == 2 ? Geometry::slice : Geometry::cube;
}

template Geometry geometry_of(const Lattice&, const DeviceClass<float>&, const LevelLayout&);
template Geometry geometry_of(const Lattice&, const DeviceClass<double>&, const LevelLayout&);
template PassView<float> view_of(const LevelArray<float>&, std::span<const DeviceClass<float>>,
                                 const DeviceClass<float>*, const RegionShape&);
template PassView<double> view_of(const LevelArray<double>&, std::span<const DeviceClass<double>>,
                                  const DeviceClass<double>*, const RegionShape&);
template DeviceClass<float> view_of(const ClassPlan<float>&, const Lattice&, const LevelLayout&,
                                    const RegionShape&);
template DeviceClass<double> view_of(const ClassPlan<double>&, const Lattice&, const LevelLayout&,
                                     const RegionShape&);

}  // namespace cuszi::gpu
