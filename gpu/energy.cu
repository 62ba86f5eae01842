#include "gpu/energy.cuh"
#include "gpu/energy_cube.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = RegionShape::block_threads;

/// The sum of what stands at the taps of a group.
__device__ std::int32_t group_sum(const EnergyTaps& taps, const std::int64_t* offsets, unsigned g,
                                  const std::uint8_t* magnitude) {
  std::int32_t sum = 0;
  for (unsigned i = taps.begin(g); i < taps.end(g); ++i) sum += magnitude[offsets[i]];
  return sum;
}

/// How wrong the means of near neighbours are in the enclosing slices.
template <class T>
__device__ T inner_slice_errors(const ClassView<T>& view, const T* value) {
  const ClassPlan<T>& plan = view.plan;
  constexpr unsigned slices = same_point - direct;
  T errors = 0;
  for (unsigned i = plan.energy.begin(slices); i < plan.energy.end(slices); ++i) {
    const T* const there = value + plan.energy_offsets[i];
    T sum = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!plan.points.is_odd(axis)) continue;
      const auto& line = view.line_offsets[axis];
      sum += there[line[1]] + there[line[2]];
    }
    errors += std::fabs(there[0] - sum * plan.near_share);
  }
  return errors;
}

/// core's slopes_of() where all neighbours are in the array.
template <class T>
__device__ Slopes<T> inner_slopes(const ClassView<T>& view, const T* value) {
  T slope = 0;
  T bend = 0;
  T low = std::numeric_limits<T>::max();
  T high = std::numeric_limits<T>::lowest();
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!view.plan.points.is_odd(axis)) continue;
    const auto& line = view.line_offsets[axis];
    const T left = value[line[1]];
    const T right = value[line[2]];
    const T near = left + right;
    const T far = value[line[0]] + value[line[3]];
    slope += std::fabs(right - left);
    bend += std::fabs(near - far);
    const T spline = spline_from(near, far);
    low = lower(spline, low);
    high = higher(spline, high);
  }
  return {slope, bend, high - low, inner_slice_errors(view, value)};
}

/// The weighted sum of the features of a point that has all neighbours.
template <class T>
__device__ std::int32_t inner_sum(const ClassView<T>& view, const EnergyWeights& weights,
                                  const T* value, const std::uint8_t* magnitude) {
  const ClassPlan<T>& plan = view.plan;
  EnergyFeatures f{};
  f[constant] = energy_one;
  for (unsigned g = 0; g < plan.energy.size; ++g) {
    f[direct + g] = group_sum(plan.energy, plan.energy_offsets.data(), g, magnitude);
  }
  if (plan.points.order != 0) add_slopes(plan, inner_slopes(view, value), f);
  return weighted_sum(weights, f);
}

/// The same at the border.
template <class T>
__device__ std::int32_t border_sum(const LevelArray<T>& array, const ClassView<T>& view,
                                   const EnergyWeights& weights, const Index4& at) {
  const LevelPointer<T> values(array.values, array.layout, at);
  const LevelPointer<std::uint8_t> magnitudes(array.magnitudes, array.layout, at);
  const PointAt<LevelPointer<T>> p{view.grid, view.plan.points, at, values};
  return weighted_sum(weights, features_of(view.plan, p, magnitudes));
}

template <class T>
__device__ std::uint8_t context_at(const LevelArray<T>& array, const ClassView<T>& view,
                                   const GroupWeights& weights, const Index4& at) {
  const ClassPlan<T>& plan = view.plan;
  std::int32_t sum = 0;
  if (weights.kind != WeightsKind::none) {
    const std::uint64_t offset = array.layout.offset_of(at);
    sum = is_inner(at, plan.energy_margins, array.layout.extents)
              ? inner_sum(view, weights.weights, array.values + offset, array.magnitudes + offset)
              : border_sum(array, view, weights.weights, at);
  }
  return context_of(weights, plan.points.group, sum);
}

template <class T>
__global__ void __launch_bounds__(threads)
    contexts_kernel(__grid_constant__ const PassView<T> pass, const GroupWeights* weights,
                    std::uint8_t* contexts) {
  __shared__ Staged<std::uint8_t> staged;
  for_each_region(pass, [&](const ClassView<T>& view, const Region& region) {
    const GroupWeights mine = weights[view.plan.points.group];
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t place) {
      staged.values[place] = context_at(pass.array, view, mine, position_of(view, region, spot));
    });
    __syncthreads();
    staged.store(contexts + region.place, region.points());
    __syncthreads();
  });
}

}  // namespace

template <class T>
void fill_contexts(Work& work, const PassView<T>& pass, const GroupWeights* weights,
                   std::uint8_t* contexts) {
  if (pass.is_cube) {
    fill_cube_contexts(work, pass, weights, contexts);
    return;
  }
  contexts_kernel<T><<<pass.grid, threads, 0, work.stream()>>>(pass, weights, contexts);
  check_launch("fill_contexts");
}

template void fill_contexts(Work&, const PassView<float>&, const GroupWeights*, std::uint8_t*);
template void fill_contexts(Work&, const PassView<double>&, const GroupWeights*, std::uint8_t*);

}  // namespace cuszi::gpu
