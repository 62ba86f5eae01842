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

/// Number `i` of the weights of a class of a level.
template <class T, class Shape>
__device__ ClassWeights<T> weights_as_numbers(const CoarseWeights& weights, int number,
                                              unsigned i) {
  const auto fitted = weights.template values<T>();
  const bool a = (i & 1) != 0;
  const bool b = (i & 2) != 0;
  const bool c = (i & 4) != 0;
  return order_of(Shape::odd_of(number)) == 3 ? effective_weights(fitted, a, b, c)
                                              : effective_weights(fitted, a, b);
}

/// A thread block a class of a level.
template <class T, class Shape, class Frames>
__global__ void __launch_bounds__(threads) fit_classes(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block;
  const PredictTask<T>& task = frames.find(shared, block);
  const Extents3 extents = task.extents();
  extern __shared__ double fit_memory[];
  auto& terms = *reinterpret_cast<FitTerms*>(fit_memory);
  __shared__ double sums[sum_count];
  __shared__ CellShares shares;
  __shared__ bool goes_on;
  const int number = static_cast<int>(block % Shape::classes);
  const int level = static_cast<int>(block / Shape::classes);
  const int odd = Shape::odd_of(number);
  const auto keep = [&](const CoarseWeights& found) {  // by all threads
    if (threadIdx.x == 0) task.fitted->of[level][number] = found;
    if (threadIdx.x < weights_of_set)
      task.weights[block * weights_of_set + threadIdx.x] =
          weights_as_numbers<T, Shape>(found, number, threadIdx.x);
  };
  if (order_of(odd) < 2) return keep({0, 0});
  const CellFitSample sample(Shape{}, extents, 1 << level, odd);
  const auto value_at = [&](std::uint64_t z, std::uint64_t y, std::uint64_t x) {
    const T value = task.values[point_at({z, y, x}, extents)];
    return task.has_missing && task.quantizer.is_missing(value, task.rules)
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
  if (used < fewest_cell_fit_points) return keep(equal_weights(odd));
  if (threadIdx.x == 0) {
    shares = CellShares::initial(odd);
    goes_on = true;
  }
  const double half = half_step_of_level(task.half_step, level);
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
  keep(shares.rounded(odd));
}

template <class T, class Shape>
__global__ void __launch_bounds__(ItemPolicy::threads)
    number_weights_of(const CellsHead* heads, ClassWeights<T>* numbers) {
  const auto i = static_cast<unsigned>(ItemPolicy::first());
  constexpr unsigned count = weight_sets<Shape> * weights_of_set;
  if (i >= count) return;
  const CellsWeights& weights = heads[blockIdx.y].weights;
  const unsigned set = i / weights_of_set;
  const unsigned number = set % Shape::classes;
  numbers[blockIdx.y * count + i] = weights_as_numbers<T, Shape>(
      weights.of[set / Shape::classes][number], static_cast<int>(number), i % weights_of_set);
}

}  // namespace

template <class T>
void fit_cell_weights(DeviceContext& gpu, int rank, const PredictTasks<T>& frames) {
  with_cell_rank(rank, [&](auto shape) {
    using Shape = decltype(shape);
    frames.visit([&]<class Frames>(const Frames& tasks) {
      auto* const kernel = fit_classes<T, Shape, Frames>;
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 sizeof(FitTerms)),
            "allow shared memory");
      const dim3 blocks(Shape::classes * Shape::levels, frames.count());
      kernel<<<blocks, threads, sizeof(FitTerms), gpu.stream()>>>(tasks);
    });
  });
  check_launch("fit_classes");
}

std::uint64_t weight_numbers(int rank) {
  return with_cell_rank(rank, [](auto shape) -> std::uint64_t {
    return weight_sets<decltype(shape)> * weights_of_set;
  });
}

template <class T>
void number_weights(DeviceContext& gpu, int rank, const CellsHead* heads, unsigned frames,
                    ClassWeights<T>* numbers) {
  with_cell_rank(rank, [&](auto shape) {
    launch_items_of(gpu, "number_weights", frames, weight_numbers(rank),
                    number_weights_of<T, decltype(shape)>, heads, numbers);
  });
}

template void fit_cell_weights(DeviceContext&, int, const PredictTasks<float>&);
template void fit_cell_weights(DeviceContext&, int, const PredictTasks<double>&);
template void number_weights(DeviceContext&, int, const CellsHead*, unsigned, ClassWeights<float>*);
template void number_weights(DeviceContext&, int, const CellsHead*, unsigned,
                             ClassWeights<double>*);

}  // namespace cuszi::gpu
