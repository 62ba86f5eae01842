#include "gpu/runtime/device.hpp"
#include "gpu/runtime/launch.cuh"
#include "tests/gpu/core_steps.hpp"

namespace cuszi::test {

namespace {

using gpu::check;
using gpu::check_launch;

/// An array in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "allocate memory");
    check(cudaMemset(data_, 0, bytes()), "clear memory");
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* get() { return data_; }

  std::vector<T> to_host() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost),
          "copy from the device");
    return values;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  std::size_t count_;
  T* data_ = nullptr;
};

template <class T>
__global__ void point_steps(const Grid* grid, const ClassPlan<T>* plan,
                            const ContextWeights* weights, const T* values,
                            const std::uint8_t* magnitudes, PointSteps<T>* steps) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= plan->points.points()) return;
  steps[i] = steps_of(*grid, *plan, *weights, plan->points.start + i, values, magnitudes);
}

__global__ void solve_equations(const StencilEquations* equations, SolvedRound* round) {
  *round = solve_round(*equations);
}

__global__ void add_samples(const Features* features, const std::uint8_t* magnitudes,
                            std::uint64_t count, FeatureWeights before, ContextSums* all) {
  const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k >= count) return;
  ContextSums mine;
  mine.add(features[k], magnitudes[k], context_fit_weight(weighted_sum(before, features[k])));
  const auto add = [](std::int64_t* to, std::int64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  };
  for (unsigned i = 0; i < feature_count; ++i) {
    add(&all->right[i], mine.right[i]);
    for (unsigned j = i; j < feature_count; ++j) add(&all->matrix[i][j], mine.matrix[i][j]);
  }
}

constexpr unsigned threads = 128;

unsigned blocks_for(std::uint64_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

template <class T>
std::vector<PointSteps<T>> steps_on_device(const Grid& grid, const ClassPlan<T>& plan,
                                           const ContextWeights& weights, std::span<const T> values,
                                           std::span<const std::uint8_t> magnitudes) {
  const std::uint64_t count = plan.points.points();
  DeviceArray<Grid> device_grid(std::span<const Grid>(&grid, 1));
  DeviceArray<ClassPlan<T>> device_plan(std::span<const ClassPlan<T>>(&plan, 1));
  DeviceArray<ContextWeights> device_weights(std::span<const ContextWeights>(&weights, 1));
  DeviceArray<T> device_values(values);
  DeviceArray<std::uint8_t> device_magnitudes(magnitudes);
  DeviceArray<PointSteps<T>> steps(count);
  point_steps<<<blocks_for(count), threads>>>(device_grid.get(), device_plan.get(),
                                              device_weights.get(), device_values.get(),
                                              device_magnitudes.get(), steps.get());
  check_launch("point_steps");
  return steps.to_host();
}

SolvedRound solve_on_device(const StencilEquations& equations) {
  DeviceArray<StencilEquations> device_equations(std::span<const StencilEquations>(&equations, 1));
  DeviceArray<SolvedRound> round(1);
  solve_equations<<<1, 1>>>(device_equations.get(), round.get());
  check_launch("solve_equations");
  return round.to_host().front();
}

ContextSums context_sums_on_device(std::span<const Features> features,
                                   std::span<const std::uint8_t> magnitudes,
                                   const FeatureWeights& before) {
  DeviceArray<Features> device_features(features);
  DeviceArray<std::uint8_t> device_magnitudes(magnitudes);
  DeviceArray<ContextSums> sums(1);
  const std::uint64_t count = features.size();
  add_samples<<<blocks_for(count), threads>>>(device_features.get(), device_magnitudes.get(), count,
                                              before, sums.get());
  check_launch("add_samples");
  return sums.to_host().front();
}

template std::vector<PointSteps<float>> steps_on_device(const Grid&, const ClassPlan<float>&,
                                                        const ContextWeights&,
                                                        std::span<const float>,
                                                        std::span<const std::uint8_t>);
template std::vector<PointSteps<double>> steps_on_device(const Grid&, const ClassPlan<double>&,
                                                         const ContextWeights&,
                                                         std::span<const double>,
                                                         std::span<const std::uint8_t>);

}  // namespace cuszi::test
