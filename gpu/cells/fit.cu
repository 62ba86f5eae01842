#include "gpu/cells/values.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned warps = cell_fit_lanes / 32;                         ///< that add observations
constexpr unsigned own_points = most_cell_fit_points / cell_fit_lanes;  ///< of a partial sum

/// The partial sum of a thread: the threads of a warp have every `warps`-th, so that shuffles add
/// the upper half to the lower half.
__device__ unsigned own_lane() { return threadIdx.x % 32 * warps + threadIdx.x / 32; }

/// Adds the sums of so many threads of a warp to those of the first.
template <unsigned count>
__device__ CellFitSums sum_of_threads(CellFitSums sums) {
  CUSZI_UNROLL
  for (unsigned half = count / 2; half != 0; half /= 2)
    sums.for_each([&](double& sum) { sum += __shfl_down_sync(~0U, sum, half); });
  return sums;
}

/// Adds the sums of all threads. The rounds of a fit use `of_warps` in turns, so that one barrier
/// is enough.
__device__ CellFitSums sum_of_block(const CellFitSums& own, CellFitSums (&of_warps)[warps]) {
  const unsigned thread = threadIdx.x % 32;
  const CellFitSums of_warp = sum_of_threads<32>(own);
  if (thread == 0) of_warps[threadIdx.x / 32] = of_warp;
  __syncthreads();
  CellFitSums all = sum_of_threads<warps>(of_warps[thread % warps]);
  all.for_each([](double& sum) { sum = __shfl_sync(~0U, sum, 0); });
  return all;
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

template <class T>
__device__ void drop_missing(const PredictTask<T>& task, CellPointValues<T>& values) {
  const auto mark = [&](T& value) {
    if (task.quantizer.is_missing(value, task.rules)) value = std::numeric_limits<T>::quiet_NaN();
  };
  mark(values.own);
  for (auto& part : values.parts)
    for (T& value : part) mark(value);
}

/// A thread block a class of a level. Each thread observes a point; then those of the partial sums
/// add the observations.
template <class T, class Shape, class Frames>
__global__ void __launch_bounds__(most_cell_fit_points)
    fit_classes(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block;
  const PredictTask<T>& task = frames.find(shared, block);
  const Extents3 extents = task.extents();
  __shared__ CellFitSums of_warps[2][warps];
  __shared__ CellObservation observed[most_cell_fit_points];
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
    return task.values[point_at({z, y, x}, extents)];
  };
  CellObservation own;
  if (threadIdx.x < sample.count) {
    auto values =
        read_cell_point<T, Shape>(extents, sample.spacing, odd, sample.at(threadIdx.x), value_at);
    if (task.has_missing) drop_missing(task, values);
    own = observe_cell_point(values, odd);
    observed[threadIdx.x] = own;
  }
  const auto used = static_cast<std::uint32_t>(__syncthreads_count(own.is_used));
  if (used < fewest_cell_fit_points) return keep(equal_weights(odd));
  if (threadIdx.x >= cell_fit_lanes) return;
  CellObservation seen[own_points];
  CUSZI_UNROLL
  for (unsigned i = 0; i < own_points; ++i) {
    const unsigned k = i * cell_fit_lanes + own_lane();
    if (k < sample.count) seen[i] = observed[k];
  }
  CellShares shares = CellShares::initial(odd);
  const double half = half_step_of_level(task.half_step, level);
  for (int round = 0; round < cell_fit_rounds; ++round) {
    CellFitSums sums;
    CUSZI_UNROLL
    for (const CellObservation& one : seen) add_observation(one, shares, half, odd, sums);
    if (!solve_shares(sum_of_block(sums, of_warps[round % 2]), shares)) break;
  }
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
  const auto points = static_cast<unsigned>(
      cell_fit_points(count_of(frames.list().front().extents())));  // at least cell_fit_lanes
  with_cell_rank(rank, [&](auto shape) {
    using Shape = decltype(shape);
    frames.visit([&]<class Frames>(const Frames& tasks) {
      const dim3 blocks(Shape::classes * Shape::levels, frames.count());
      fit_classes<T, Shape><<<blocks, points, 0, gpu.stream()>>>(tasks);
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
