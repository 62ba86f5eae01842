#include "gpu/multilevel/multilevel.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

template <class T>
LevelFrame<T>::LevelFrame(DeviceContext& gpu, FrameMemory& memory, const MultilevelParams& params,
                          double min, double max, T* finest)
    : gpu_(gpu), lattice_(params.lattice), plan_(plan_frame<T>(params, min, max)) {
  make_arrays(memory, finest);
  make_views(params);
  starts_.push_back(0);
  for (const Pass& pass : plan_.passes) starts_.push_back(starts_.back() + pass.points);
  if (lattice_.finest == 1) listed_ = memory.take<T>(starts_[plan_.coarse_passes]);
}

template <class T>
void LevelFrame<T>::make_arrays(FrameMemory& memory, T* finest) {
  for (int level = lattice_.finest; level <= lattice_.levels + 1; ++level) {
    LevelArray<T> array;
    array.layout = level_layout(lattice_, level, sizeof(T));
    const std::uint64_t points = array.layout.points();
    array.values = level == lattice_.finest ? finest : memory.take<T>(points);
    array.magnitudes = memory.take<std::uint8_t>(points);
    arrays_.push_back(array);
  }
}

template <class T>
void LevelFrame<T>::make_views(const MultilevelParams& params) {
  const RegionShape shape = RegionShape::of(plan_.grid);
  const std::size_t count = plan_.classes.size();
  classes_ = {gpu_.take_pinned<DeviceClass<T>>(count), count};
  std::transform(plan_.classes.begin(), plan_.classes.end(), classes_.begin(),
                 [&](const ClassPlan<T>& c) {
                   return view_of(c, lattice_, array(c.points.level).layout, shape);
                 });
  auto* const on_device = gpu_.take<DeviceClass<T>>(count);
  copy_pinned(gpu_, on_device, classes_.data(), count);
  views_.reserve(plan_.passes.size());
  for (const Pass& pass : plan_.passes) {
    PassView<T> view =
        view_of<T>(array(pass.level), classes_.subspan(pass.first_class, pass.classes),
                   on_device + pass.first_class, shape);
    view.geometry = geometry_of(lattice_, classes_[pass.first_class], view.array.layout);
    view.layered_axis = static_cast<unsigned>(std::max(lattice_.layered_axis(), 0));
    view.reach = params.reach;
    views_.push_back(view);
  }
}

template <class T>
void LevelFrame<T>::enter(int number) {
  const int level = pass(number).level;
  if (number == 0 || pass(number - 1).level == level) return;
  refine(gpu_, lattice_, array(level + 1), array(level));
}

template <class T>
void LevelFrame<T>::leave() {
  join_rows(gpu_, arrays_.front().layout, arrays_.front().values);
}

template <class T>
Bytes LevelFrame<T>::coarse_values() const {
  return {reinterpret_cast<const std::byte*>(listed_), starts_[plan_.coarse_passes] * sizeof(T)};
}

template class LevelFrame<float>;
template class LevelFrame<double>;

}  // namespace cuszi::gpu
