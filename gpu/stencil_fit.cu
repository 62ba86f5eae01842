#include "gpu/lanes.cuh"
#include "gpu/stencil_fit.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 512;
constexpr unsigned warps = threads / 32;
static_assert(sum_lanes == 32, "the lanes of a warp make the partial sums");

/// core's tree_sum() of a value per lane; in lane 0.
__device__ double warp_tree_sum(double value) {
  for (unsigned half = sum_lanes / 2; half != 0; half /= 2) {
    value += __shfl_down_sync(~0U, value, half);
  }
  return value;
}

/// A warp's part of the sums of core's BinScales, whose terms are added in halves: shared memory
/// adds 32 bits at once.
struct BinSums {
  std::uint32_t low[scale_bins];
  std::uint32_t high[scale_bins];
  std::uint32_t counts[scale_bins];
};

/// What the threads of a block know of the fit of a class.
struct FitState {
  StencilEquations equations;
  Shares shares;
  double weights;  ///< the sum of all observations'
  BendCounts counts;
  BendBins bins;
  std::uint32_t key_counts[bend_keys];
  BinSums sums[warps];
  BinScales scales;
  std::array<double, scale_bins> scale_of;
  std::uint32_t used;
  bool is_solved;
};

/// Columns of the equations that a warp sums up for two rows at once. The column after the last
/// unknown is the right side.
struct EquationTile {
  static constexpr unsigned width = 10;

  unsigned row;
  unsigned column;
};

/// Calls each(tile) for this warp's share of all tiles of an upper triangle.
template <class Each>
__device__ void for_each_tile(unsigned unknowns, unsigned warp, const Each& each) {
  unsigned number = 0;
  for (unsigned row = 0; row < unknowns; row += 2) {
    for (unsigned column = row; column <= unknowns; column += EquationTile::width, ++number) {
      if (number % warps == warp) each(EquationTile{row, column});
    }
  }
}

/// The fit of one class by one thread block.
template <class T>
class BlockFit {
 public:
  /// `weights` has room for a number per sample.
  __device__ BlockFit(const ClassSample<T>& sample, FitState& state, double* weights)
      : sample_(sample), state_(state), weights_(weights), n_(sample.unknowns) {
    make_bins();
  }

  __device__ std::uint32_t used() const { return state_.used; }

  /// core's solve_stencil() from the shares in the state on.
  __device__ bool solve(FitTo to) {
    for (int round = 0; round < fit_rounds(to); ++round) {
      find_scales();
      make_weights();
      make_equations();
      solve_round(to);
      if (!state_.is_solved) return false;
    }
    return true;
  }

  /// The cost of the class with the shares in the state; for thread 0.
  __device__ Cost cost() {
    find_scales();
    return fit_cost(state_.scales, sample_.plan->points.points(), state_.used);
  }

  /// Puts shares into the state.
  template <class ShareOf>
  __device__ void set_shares(const ShareOf& share_of_unknown) {
    __syncthreads();
    if (threadIdx.x < most_unknowns) {
      state_.shares[threadIdx.x] = threadIdx.x < n_ ? share_of_unknown(threadIdx.x) : 0;
    }
    __syncthreads();
  }

  /// What the shares in the state leave of a sample's target.
  __device__ double residual(std::uint32_t k) const {
    return residual_of(sample_.row(k), sum_lanes, sample_.target(k), n_, state_.shares);
  }

 private:
  __device__ unsigned warp() const { return threadIdx.x / 32; }
  __device__ unsigned lane() const { return threadIdx.x % 32; }

  __device__ void make_bins() {
    if (threadIdx.x < bend_keys) state_.key_counts[threadIdx.x] = 0;
    __syncthreads();
    for (std::uint32_t k = threadIdx.x; k < sample_.samples; k += threads) {
      if (sample_.takes_part(k)) atomicAdd(&state_.key_counts[sample_.bend_keys[k]], 1U);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      state_.used = 0;
      for (unsigned key = 0; key < bend_keys; ++key) {
        state_.counts[key] = state_.key_counts[key];
        state_.used += state_.key_counts[key];
      }
      state_.bins = bins_of(state_.counts);
    }
    __syncthreads();
  }

  /// core's bin_scales(); leaves residuals where weights will be.
  __device__ void find_scales() {
    BinSums& sums = state_.sums[warp()];
    if (lane() < scale_bins) {
      sums.low[lane()] = 0;
      sums.high[lane()] = 0;
      sums.counts[lane()] = 0;
    }
    __syncwarp();
    for (std::uint32_t k = threadIdx.x; k < sample_.samples; k += threads) {
      const double r = residual(k);
      weights_[k] = r;
      if (!sample_.takes_part(k)) continue;
      const std::uint8_t bin = state_.bins[sample_.bend_keys[k]];
      const std::uint64_t term = BinScales::term(r, sample_.bound);
      atomicAdd(&sums.low[bin], static_cast<std::uint32_t>(term & 0xFFFF));
      atomicAdd(&sums.high[bin], static_cast<std::uint32_t>(term >> 16));
      atomicAdd(&sums.counts[bin], 1U);
    }
    __syncthreads();
    if (threadIdx.x < scale_bins) add_sums(threadIdx.x);
    __syncthreads();
  }

  __device__ void add_sums(unsigned bin) {
    std::uint64_t sum = 0;
    std::uint32_t count = 0;
    for (const BinSums& sums : state_.sums) {
      sum += (std::uint64_t{sums.high[bin]} << 16) + sums.low[bin];
      count += sums.counts[bin];
    }
    state_.scales.sums[bin] = sum;
    state_.scales.counts[bin] = count;
    state_.scale_of[bin] = sample_.bound * state_.scales.mean(bin);
  }

  __device__ void make_weights() {
    for (std::uint32_t k = threadIdx.x; k < sample_.blocks() * sum_lanes; k += threads) {
      const bool is_used = k < sample_.samples && sample_.takes_part(k);
      const double scale = is_used ? state_.scale_of[state_.bins[sample_.bend_keys[k]]] : 0;
      weights_[k] = fit_weight(is_used ? weights_[k] : 0, scale, sample_.bound, is_used);
    }
    __syncthreads();
  }

  __device__ void make_equations() {
    for_each_tile(n_, warp(), [&](const EquationTile& tile) { sum_tile(tile); });
    if (warp() == warps - 1) {
      double sum = 0;
      for (std::uint32_t b = 0; b < sample_.blocks(); ++b) sum += weights_[b * sum_lanes + lane()];
      sum = warp_tree_sum(sum);
      if (lane() == 0) state_.weights = sum;
    }
    __syncthreads();
  }

  __device__ void sum_tile(const EquationTile& tile) {
    double sums[2][EquationTile::width] = {};
    const unsigned second = tile.row + 1 < n_ ? tile.row + 1 : tile.row;
    const unsigned columns = n_ + 1 - tile.column;  // from the tile's first on
#pragma unroll 2
    for (std::uint32_t b = 0; b < sample_.blocks(); ++b) {
      const double* const block = sample_.block(b) + lane();
      const double weight = weights_[b * sum_lanes + lane()];
      const double weighted0 = weight * block[tile.row * sum_lanes];
      const double weighted1 = weight * block[second * sum_lanes];
#pragma unroll
      for (unsigned j = 0; j < EquationTile::width; ++j) {
        if (j >= columns) break;
        const double value = block[(tile.column + j) * sum_lanes];
        sums[0][j] += weighted0 * value;
        sums[1][j] += weighted1 * value;
      }
    }
#pragma unroll
    for (unsigned j = 0; j < EquationTile::width; ++j) {
      store(tile.row, tile.column + j, warp_tree_sum(sums[0][j]));
      store(tile.row + 1, tile.column + j, warp_tree_sum(sums[1][j]));
    }
  }

  __device__ void store(unsigned row, unsigned column, double sum) {
    if (lane() != 0 || row >= n_ || column > n_ || column < row) return;
    if (column == n_) {
      state_.equations.right[row] = sum;
    } else {
      state_.equations.at(row, column) = sum;
    }
  }

  __device__ void solve_round(FitTo to) {
    if (threadIdx.x == 0) {
      state_.equations.unknowns = n_;
      add_noise(sample_.plan->stencil, state_.weights, sample_.bound, to, state_.equations);
    }
    if (warp() == 0) {
      __syncwarp();
      const bool is_solved =
          solve_in_place(state_.equations, stencil_ridge, state_.shares, RowsOfWarp{lane()});
      if (threadIdx.x == 0) state_.is_solved = is_solved;
    }
    __syncthreads();
  }

  const ClassSample<T>& sample_;
  FitState& state_;
  double* weights_;
  unsigned n_;
};

/// Shared memory of a block: its state, then a number per sample.
extern __shared__ double weights_of_block[];

/// The shares in the state, as coefficients.
__device__ void keep_fit(const FitState& state, unsigned unknowns, FittedClass& fit) {
  if (threadIdx.x < unknowns) {
    fit.coefficients[threadIdx.x] = coefficient_of(state.shares[threadIdx.x]);
  }
  if (threadIdx.x == 0) fit.count = unknowns;
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(threads) fit_kernel(const ClassSample<T>* samples, FitTo to,
                                                      const FittedClass* start, FittedClass* fits) {
  __shared__ Uninitialised<FitState> fit_state;
  __shared__ Uninitialised<FittedClass> fitted;
  FitState& state = fit_state.get();
  FittedClass& fit = fitted.get();
  const ClassSample<T>& sample = samples[blockIdx.x];
  FittedClass& result = fits[blockIdx.x];
  const FittedClass from = start != nullptr ? start[blockIdx.x] : FittedClass{};
  __syncthreads();
  if (threadIdx.x == 0) result.count = 0;
  if (sample.samples == 0) return;
  BlockFit<T> block(sample, state, weights_of_block);
  if (block.used() < fewest_fit_points) return;
  const auto preset = [&](unsigned i) { return sample.preset[i]; };
  block.set_shares(
      [&](unsigned i) { return from.count == 0 ? preset(i) : share_of(from.coefficients[i]); });
  if (!block.solve(to)) return;
  keep_fit(state, sample.unknowns, fit);
  block.set_shares([&](unsigned i) { return share_of(fit.coefficients[i]); });
  const Cost cost = block.cost();
  block.set_shares(preset);
  const Cost preset_cost = block.cost();
  if (threadIdx.x == 0 && fit_pays(cost, sample.unknowns, preset_cost)) result = fit;
}

template <class T>
__global__ void __launch_bounds__(threads)
    open_loop_kernel(const ClassSample<T>* samples, double half_step, OpenLoopClass* classes) {
  __shared__ Uninitialised<FitState> fit_state;
  __shared__ Uninitialised<OpenLoopClass> errors;
  FitState& state = fit_state.get();
  OpenLoopClass& result = errors.get();
  const ClassSample<T>& sample = samples[blockIdx.x];
  if (threadIdx.x < disagreements) {
    result.counts[threadIdx.x] = 0;
    result.sizes[threadIdx.x] = 0;
  }
  if (threadIdx.x == 0) result.fitted.count = 0;
  BlockFit<T> block(sample, state, weights_of_block);
  const auto preset = [&](unsigned i) { return sample.preset[i]; };
  block.set_shares(preset);
  if (sample.unknowns != 0 && block.used() >= least_open_loop_fit) {
    if (block.solve(FitTo::originals)) {
      keep_fit(state, sample.unknowns, result.fitted);
      block.set_shares([&](unsigned i) { return share_of(result.fitted.coefficients[i]); });
    } else {
      block.set_shares(preset);
    }
  }
  for (std::uint32_t k = threadIdx.x; k < sample.samples; k += threads) {
    if (!sample.takes_part(k)) continue;
    const double apart = disagreement(sample.row(k), sum_lanes, sample.unknowns);
    const int octave = disagreement_of(error_size(apart, half_step));
    atomicAdd(&result.counts[octave], 1ULL);
    atomicAdd(&result.sizes[octave],
              static_cast<unsigned long long>(error_size(block.residual(k), half_step)));
  }
  __syncthreads();
  if (threadIdx.x == 0) classes[blockIdx.x] = result;
}

/// Launches a kernel with one block per class and room for a number per sample.
template <class T, class... Parameters, class... Arguments>
void launch(Work& work, const ClassSamples<T>& samples, const char* name,
            void (*kernel)(Parameters...), Arguments... arguments) {
  const auto bytes =
      static_cast<int>(ceil_div(samples.most_samples(), sum_lanes) * sum_lanes * sizeof(double));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
  kernel<<<static_cast<unsigned>(samples.classes()), threads, static_cast<std::size_t>(bytes),
           work.stream()>>>(arguments...);
  check_launch(name);
}

}  // namespace

template <class T>
void fit_stencils(Work& work, const ClassSamples<T>& samples, FitTo to, const FittedClass* start,
                  FittedClass* fits) {
  launch(work, samples, "fit_stencils", fit_kernel<T>, samples.on_device(), to, start, fits);
}

template <class T>
void sum_open_loop_errors(Work& work, const ClassSamples<T>& samples, double half_step,
                          OpenLoopClass* classes) {
  launch(work, samples, "sum_open_loop_errors", open_loop_kernel<T>, samples.on_device(), half_step,
         classes);
}

template void fit_stencils(Work&, const ClassSamples<float>&, FitTo, const FittedClass*,
                           FittedClass*);
template void fit_stencils(Work&, const ClassSamples<double>&, FitTo, const FittedClass*,
                           FittedClass*);
template void sum_open_loop_errors(Work&, const ClassSamples<float>&, double, OpenLoopClass*);
template void sum_open_loop_errors(Work&, const ClassSamples<double>&, double, OpenLoopClass*);
}  // namespace cuszi::gpu
