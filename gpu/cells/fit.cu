#include "gpu/cells/values.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = CellsPolicy::fit_threads;
constexpr unsigned own_points = cell_fit_points / threads;  ///< of a thread
constexpr unsigned sum_count = 5;
static_assert(sum_lanes == 32, "the lanes of a warp make the partial sums");

/// What observations add to the sums of the equations.
struct FitTerms {
  double of[sum_count][cell_fit_points];
};

/// Sums up what a warp's lanes have summed up, as core's tree_sum(); in lane 0.
__device__ double sum_of_lanes(double value) {
  for (unsigned half = sum_lanes / 2; half != 0; half /= 2)
    value += __shfl_down_sync(~0U, value, half);
  return value;
}

/// A thread block a class.
template <class T, class Shape>
__global__ void __launch_bounds__(threads)
    fit_classes(Extents3 extents, double half_step, CellsQuantizer<T> quantizer,
                RestoreRules<T> rules, const T* values, bool has_missing, CellsWeights* weights) {
  extern __shared__ double fit_memory[];
  auto& terms = *reinterpret_cast<FitTerms*>(fit_memory);
  __shared__ double sums[sum_count];
  __shared__ CellShares shares;
  __shared__ bool goes_on;
  const int number = static_cast<int>(blockIdx.x);
  const int level = static_cast<int>(blockIdx.y);
  const int odd = Shape::odd_of(number);
  CoarseWeights& own = weights->of[level][number];
  if (order_of(odd) < 2) {
    if (threadIdx.x == 0) own = {0, 0};
    return;
  }
  const CellFitSample sample(Shape{}, extents, 1 << level, odd);
  const auto value_at = [&](std::uint64_t z, std::uint64_t y, std::uint64_t x) {
    const T value = values[point_at({z, y, x}, extents)];
    return has_missing && quantizer.is_missing(value, rules)
               ? std::numeric_limits<double>::quiet_NaN()
               : static_cast<double>(value);
  };
  CellObservation seen[own_points];
  CUSZI_UNROLL
  for (unsigned i = 0; i < own_points; ++i) {
    const std::uint64_t k = i * threads + threadIdx.x;
    if (k < sample.count)
      seen[i] = observe_cell_point<Shape>(extents, sample.spacing, odd, sample.at(k), value_at);
  }
  std::uint32_t used = 0;
  CUSZI_UNROLL
  for (const CellObservation& one : seen)
    used += static_cast<std::uint32_t>(__syncthreads_count(one.is_used));
  if (used < fewest_cell_fit_points) {
    if (threadIdx.x == 0) own = equal_weights(odd);
    return;
  }
  if (threadIdx.x == 0) {
    shares = CellShares::initial(odd);
    goes_on = true;
  }
  const double half = half_step_of_level(half_step, level);
  for (int round = 0; round < cell_fit_rounds; ++round) {
    __syncthreads();
    if (!goes_on) break;
    CUSZI_UNROLL
    for (unsigned i = 0; i < own_points; ++i) {
      CellFitSums added;
      add_observation(seen[i], shares, half, odd, added);
      unsigned n = 0;
      for_each_fit_sum(added,
                       [&](double term) { terms.of[n++][i * threads + threadIdx.x] = term; });
    }
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x / 32 < sum_count) {
      const double* const mine = terms.of[threadIdx.x / 32];
      double sum = 0;
      CUSZI_UNROLL
      for (unsigned k = 0; k < cell_fit_points; k += 32) sum += mine[k + lane];
      sum = sum_of_lanes(sum);
      if (lane == 0) sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      CellFitSums all;
      unsigned n = 0;
      for_each_fit_sum(all, [&](double& sum) { sum = sums[n++]; });
      CellShares found = shares;
      goes_on = solve_shares(all, found);
      shares = found;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) own = shares.rounded(odd);
}

template <class T, class Shape>
__global__ void __launch_bounds__(ItemPolicy::threads)
    number_weights(const CellsWeights* weights, ClassWeights<T>* numbers) {
  const auto i = static_cast<unsigned>(ItemPolicy::first());
  if (i >= weight_sets<Shape> * weights_of_set) return;
  const unsigned set = i / weights_of_set;
  const unsigned number = set % Shape::classes;
  const auto fitted = weights->of[set / Shape::classes][number].template values<T>();
  const bool a = (i & 1) != 0;
  const bool b = (i & 2) != 0;
  const bool c = (i & 4) != 0;
  numbers[i] = order_of(Shape::odd_of(static_cast<int>(number))) == 3
                   ? effective_weights(fitted, a, b, c)
                   : effective_weights(fitted, a, b);
}

}  // namespace

template <class T>
void fit_cell_weights(DeviceContext& gpu, const CellsParams& params,
                      const CellsQuantizer<T>& quantizer, const FrameInput<T>& frame,
                      CellsWeights* weights) {
  with_cell_rank(params.rank, [&](auto shape) {
    using Shape = decltype(shape);
    auto* const kernel = fit_classes<T, Shape>;
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(FitTerms)),
        "allow shared memory");
    kernel<<<dim3(Shape::classes, Shape::levels), threads, sizeof(FitTerms), gpu.stream()>>>(
        frame.extents, params.half_step, quantizer, frame.rules, frame.values,
        frame.missing_points != 0, weights);
  });
  check_launch("fit_classes");
}

template <class T>
const ClassWeights<T>* numbers_of_weights(DeviceContext& gpu, int rank,
                                          const CellsWeights* weights) {
  return with_cell_rank(rank, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr unsigned count = weight_sets<Shape> * weights_of_set;
    auto* const numbers = gpu.take<ClassWeights<T>>(count);
    launch_items(gpu, "number_weights", count, number_weights<T, Shape>, weights, numbers);
    return static_cast<const ClassWeights<T>*>(numbers);
  });
}

template void fit_cell_weights(DeviceContext&, const CellsParams&, const CellsQuantizer<float>&,
                               const FrameInput<float>&, CellsWeights*);
template void fit_cell_weights(DeviceContext&, const CellsParams&, const CellsQuantizer<double>&,
                               const FrameInput<double>&, CellsWeights*);
template const ClassWeights<float>* numbers_of_weights(DeviceContext&, int, const CellsWeights*);
template const ClassWeights<double>* numbers_of_weights(DeviceContext&, int, const CellsWeights*);

}  // namespace cuszi::gpu
