#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/stencil_fit.cuh"
#include "gpu/tuning/tuning.cuh"

namespace cuszi::gpu {

namespace {

// Each step of a round is one launch for all classes, to fill the device.

static_assert(sum_lanes == 32, "the lanes of a warp make the partial sums");

struct ClassFit {
  StencilEquations equations;
  Shares shares;     ///< of the previous round
  double noise;      ///< see core's add_noise()
  BinScales scales;  ///< of the residuals
  std::uint8_t bins[curvature_keys];
  std::uint32_t used;
  bool goes_on;  ///< false without unknowns or after a singular round
};

/// tree_sum() of the lanes; in lane 0.
__device__ double warp_tree_sum(double value) {
  for (unsigned half = sum_lanes / 2; half != 0; half /= 2) {
    value += __shfl_down_sync(~0U, value, half);
  }
  return value;
}

/// Starts with the preset; one block per class.
template <class T>
__global__ void __launch_bounds__(StencilFitPolicy::threads)
    begin_fits(const ClassSample<T>* samples, std::uint32_t fewest, ClassFit* fits) {
  __shared__ std::uint32_t counts[curvature_keys];
  const ClassSample<T>& sample = samples[blockIdx.x];
  ClassFit& fit = fits[blockIdx.x];
  if (threadIdx.x < curvature_keys) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < sample.samples; k += StencilFitPolicy::threads) {
    if (sample.takes_part(k)) atomicAdd(&counts[sample.curvature_keys[k]], 1U);
  }
  __syncthreads();
  if (threadIdx.x < curvature_keys) {
    std::uint32_t all = 0;
    std::uint32_t before = 0;
    for (unsigned key = 0; key < curvature_keys; ++key) {
      all += counts[key];
      if (key < threadIdx.x) before += counts[key];
    }
    fit.bins[threadIdx.x] = bin_of(before, counts[threadIdx.x], all);
    if (threadIdx.x == 0) {
      fit.used = all;
      fit.goes_on = sample.unknowns != 0 && all >= fewest;
      fit.scales = {};
    }
  }
  if (threadIdx.x < sample.unknowns) fit.shares[threadIdx.x] = sample.preset[threadIdx.x];
}

/// A block's part of BinScales. Halves of terms are added separately: shared atomics have 32 bits.
class BinSums {
 public:
  __device__ void clear() {
    if (threadIdx.x < scale_bins) low_[threadIdx.x] = high_[threadIdx.x] = counts_[threadIdx.x] = 0;
    __syncthreads();
  }
  __device__ void add(unsigned bin, std::uint64_t term) {
    atomicAdd(&low_[bin], static_cast<std::uint32_t>(term & 0xFFFF));
    atomicAdd(&high_[bin], static_cast<std::uint32_t>(term >> 16));
    atomicAdd(&counts_[bin], 1U);
  }
  __device__ void add_to(BinScales& scales) const {
    __syncthreads();
    if (threadIdx.x >= scale_bins || counts_[threadIdx.x] == 0) return;
    atomicAdd(reinterpret_cast<unsigned long long*>(&scales.sums[threadIdx.x]),
              (static_cast<unsigned long long>(high_[threadIdx.x]) << 16) + low_[threadIdx.x]);
    atomicAdd(&scales.counts[threadIdx.x], counts_[threadIdx.x]);
  }

 private:
  std::uint32_t low_[scale_bins];
  std::uint32_t high_[scale_bins];
  std::uint32_t counts_[scale_bins];
};

/// One thread per sample; residuals replace weights.
template <class T>
__global__ void __launch_bounds__(StencilFitPolicy::threads)
    find_scales(const ClassSample<T>* samples, ClassFit* fits) {
  __shared__ BinSums sums;
  const ClassSample<T>& sample = samples[blockIdx.y];
  ClassFit& fit = fits[blockIdx.y];
  const std::uint32_t k = blockIdx.x * StencilFitPolicy::threads + threadIdx.x;
  if (!fit.goes_on || blockIdx.x * StencilFitPolicy::threads >= sample.samples) return;
  sums.clear();
  if (k < sample.samples) {
    const double r =
        residual_of(sample.row(k), sum_lanes, sample.target(k), sample.unknowns, fit.shares);
    sample.weight(k) = r;
    if (sample.takes_part(k)) {
      sums.add(fit.bins[sample.curvature_keys[k]], BinScales::term(r, sample.bound));
    }
  }
  sums.add_to(fit.scales);
}

/// One thread per sample, including padding.
template <class T>
__global__ void __launch_bounds__(StencilFitPolicy::threads)
    make_weights(const ClassSample<T>* samples, const ClassFit* fits) {
  __shared__ double scales[scale_bins];
  const ClassSample<T>& sample = samples[blockIdx.y];
  const ClassFit& fit = fits[blockIdx.y];
  const std::uint32_t k = blockIdx.x * StencilFitPolicy::threads + threadIdx.x;
  if (!fit.goes_on) return;
  if (threadIdx.x < scale_bins) {
    scales[threadIdx.x] = sample.bound * fit.scales.mean(threadIdx.x);
  }
  __syncthreads();
  if (k >= sample.blocks() * sum_lanes) return;
  const bool is_used = k < sample.samples && sample.takes_part(k);
  const double residual = is_used ? sample.weight(k) : 0;
  const double weight = fit_weight(
      residual, is_used ? scales[fit.bins[sample.curvature_keys[k]]] : 0, sample.bound, is_used);
  sample.weight(k) = weight;
  sample.noise(k) = weight * neighbour_noise(residual, sample.bound);
}

/// Columns summed by a warp for two rows; the last column is the right side.
struct EquationTile {
  static constexpr unsigned width = 5;

  unsigned row;
  unsigned column;

  /// Tiles of an upper triangle.
  static CUSZI_HD unsigned count(unsigned unknowns) {
    unsigned tiles = 0;
    for (unsigned row = 0; row < unknowns; row += 2) tiles += in_row(row, unknowns);
    return tiles;
  }
  static __device__ EquationTile of(unsigned number, unsigned unknowns) {
    unsigned row = 0;
    for (; number >= in_row(row, unknowns); row += 2) number -= in_row(row, unknowns);
    return {row, row + number * width};
  }

 private:
  static CUSZI_HD unsigned in_row(unsigned row, unsigned unknowns) {
    return (unknowns + 1 - row + width - 1) / width;
  }
};

struct Factors {
  double weight;
  double rows[2];
  double columns[EquationTile::width];
};

/// Sums equations over blocks of 32 samples; lanes make partial sums.
template <class T>
class Summing {
 public:
  __device__ Summing(const ClassSample<T>& sample, ClassFit& fit)
      : sample_(sample), fit_(fit), n_(sample.unknowns), lane_(threadIdx.x % 32) {}

  __device__ void sum_tile(const EquationTile& tile) {
    double sums[2][EquationTile::width] = {};
    const unsigned second = tile.row + 1 < n_ ? tile.row + 1 : tile.row;
    unsigned columns[EquationTile::width];  // clamped to the last
#pragma unroll
    for (unsigned j = 0; j < EquationTile::width; ++j) {
      columns[j] = (tile.column + j < n_ ? tile.column + j : n_) * sum_lanes;
    }
    const auto add = [&](const Factors& f) {
      const double weighted0 = f.weight * f.rows[0];
      const double weighted1 = f.weight * f.rows[1];
#pragma unroll
      for (unsigned j = 0; j < EquationTile::width; ++j) {
        sums[0][j] += weighted0 * f.columns[j];
        sums[1][j] += weighted1 * f.columns[j];
      }
    };
    const auto read = [&](std::uint32_t b) {
      const double* const block = sample_.block(b) + lane_;
      Factors f;
      f.weight = block[weight_row()];
      f.rows[0] = block[tile.row * sum_lanes];
      f.rows[1] = block[second * sum_lanes];
#pragma unroll
      for (unsigned j = 0; j < EquationTile::width; ++j) f.columns[j] = block[columns[j]];
      return f;
    };
    const std::uint32_t blocks = sample_.blocks();
    std::uint32_t b = 0;
    for (; b + StencilFitPolicy::read_ahead <= blocks; b += StencilFitPolicy::read_ahead) {
      Factors ahead[StencilFitPolicy::read_ahead];
#pragma unroll
      for (unsigned i = 0; i < StencilFitPolicy::read_ahead; ++i) ahead[i] = read(b + i);
#pragma unroll
      for (unsigned i = 0; i < StencilFitPolicy::read_ahead; ++i) add(ahead[i]);
    }
    for (; b < blocks; ++b) add(read(b));
#pragma unroll
    for (unsigned j = 0; j < EquationTile::width; ++j) {
      store(tile.row, tile.column + j, warp_tree_sum(sums[0][j]));
      store(tile.row + 1, tile.column + j, warp_tree_sum(sums[1][j]));
    }
  }

  __device__ void sum_noise() {
    double sum = 0;
#pragma unroll 8
    for (std::uint32_t b = 0; b < sample_.blocks(); ++b) {
      sum += sample_.block(b)[weight_row() + sum_lanes + lane_];
    }
    sum = warp_tree_sum(sum);
    if (lane_ == 0) fit_.noise = sum;
  }

 private:
  __device__ unsigned weight_row() const { return (n_ + 2) * sum_lanes; }

  __device__ void store(unsigned row, unsigned column, double sum) {
    if (lane_ != 0 || row >= n_ || column > n_ || column < row) return;
    if (column == n_) {
      fit_.equations.right[row] = sum;
    } else {
      fit_.equations.at(row, column) = sum;
    }
  }

  const ClassSample<T>& sample_;
  ClassFit& fit_;
  unsigned n_;
  unsigned lane_;
};

template <class T>
__global__ void __launch_bounds__(32 * StencilFitPolicy::sum_warps, 3)
    sum_equations(const ClassSample<T>* samples, ClassFit* fits) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  ClassFit& fit = fits[blockIdx.y];
  if (!fit.goes_on) return;
  Summing<T> summing(sample, fit);
  const unsigned number = blockIdx.x * StencilFitPolicy::sum_warps + threadIdx.x / 32;
  const unsigned tiles = EquationTile::count(sample.unknowns);
  if (number < tiles) summing.sum_tile(EquationTile::of(number, sample.unknowns));
  if (number == tiles) summing.sum_noise();
}

/// One warp per class.
template <class T>
__global__ void __launch_bounds__(32) solve_round(const ClassSample<T>* samples, ClassFit* fits) {
  __shared__ Uninitialised<StencilEquations> shared;
  __shared__ Uninitialised<Shares> solution;
  const ClassSample<T>& sample = samples[blockIdx.x];
  ClassFit& fit = fits[blockIdx.x];
  if (!fit.goes_on) return;
  const unsigned lane = threadIdx.x;
  const unsigned n = sample.unknowns;
  StencilEquations& equations = shared.get();
  for (unsigned row = 0; row < n; ++row) {
    if (lane < n) equations.at(row, lane) = fit.equations.at(row, lane);
  }
  equations.unknowns = n;
  if (lane < n) equations.right[lane] = fit.equations.right[lane];
  __syncwarp();
  if (lane < n) add_noise(sample.plan->stencil, fit.noise, lane, equations);
  __syncwarp();
  const bool is_solved = solve_in_place(equations, stencil_ridge, solution.get(), RowsOfWarp{lane});
  if (lane < n) fit.shares[lane] = solution.get()[lane];
  if (lane == 0) {
    fit.goes_on = is_solved;
    fit.scales = {};
  }
}

__device__ double stored_share(const ClassFit& fit, unsigned unknown) {
  return share_of(coefficient_of(fit.shares[unknown]));
}

__device__ void keep_fit(const ClassFit& fit, unsigned unknowns, FittedClass& fitted) {
  for (unsigned i = 0; i < unknowns; ++i) fitted.coefficients[i] = coefficient_of(fit.shares[i]);
  fitted.count = unknowns;
}

template <class T>
__global__ void keep_fits(const ClassSample<T>* samples, const ClassFit* fits, std::uint64_t count,
                          FittedClass* fitted) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count) return;
  fitted[i].count = 0;
  if (fits[i].goes_on) keep_fit(fits[i], samples[i].unknowns, fitted[i]);
}

/// One thread per sample.
template <class T>
__global__ void __launch_bounds__(StencilFitPolicy::threads)
    sum_errors(const ClassSample<T>* samples, const ClassFit* fits, double half_step,
               SampledErrors* classes) {
  __shared__ unsigned long long counts[error_bins];
  __shared__ unsigned long long sizes[error_bins];
  __shared__ Uninitialised<Shares> shares;
  const ClassSample<T>& sample = samples[blockIdx.y];
  const ClassFit& fit = fits[blockIdx.y];
  SampledErrors& result = classes[blockIdx.y];
  const std::uint32_t k = blockIdx.x * StencilFitPolicy::threads + threadIdx.x;
  if (blockIdx.x * StencilFitPolicy::threads >= sample.samples) return;
  if (threadIdx.x < sample.unknowns) {
    shares.get()[threadIdx.x] =
        fit.goes_on ? stored_share(fit, threadIdx.x) : sample.preset[threadIdx.x];
  }
  if (threadIdx.x < error_bins) counts[threadIdx.x] = sizes[threadIdx.x] = 0;
  __syncthreads();
  if (k < sample.samples && sample.takes_part(k)) {
    const double apart = neighbour_spread(sample.row(k), sum_lanes, sample.unknowns);
    const double r =
        residual_of(sample.row(k), sum_lanes, sample.target(k), sample.unknowns, shares.get());
    const int octave = error_bin_of(error_size(apart, half_step));
    atomicAdd(&counts[octave], 1ULL);
    atomicAdd(&sizes[octave], static_cast<unsigned long long>(error_size(r, half_step)));
  }
  __syncthreads();
  if (threadIdx.x < error_bins && counts[threadIdx.x] != 0) {
    atomicAdd(&result.counts[threadIdx.x], counts[threadIdx.x]);
    atomicAdd(&result.sizes[threadIdx.x], sizes[threadIdx.x]);
  }
  if (k == 0 && fit.goes_on) keep_fit(fit, sample.unknowns, result.fitted);
}

/// Equals cpu::fit_stencil().
template <class T>
ClassFit* solve(DeviceContext& gpu, const ClassSamples<T>& samples, std::uint32_t fewest) {
  const auto classes = static_cast<unsigned>(samples.classes());
  auto* const fits = gpu.take<ClassFit>(classes);
  const dim3 by_sample(blocks_for(samples.most_samples() + sum_lanes, StencilFitPolicy::threads),
                       classes);
  const unsigned most_sums = EquationTile::count(most_unknowns) + 1;
  const dim3 by_tile(static_cast<unsigned>(ceil_div(most_sums, StencilFitPolicy::sum_warps)),
                     classes);
  const ClassSample<T>* const on_device = samples.on_device();
  begin_fits<<<classes, StencilFitPolicy::threads, 0, gpu.stream()>>>(on_device, fewest, fits);
  check_launch("begin_fits");
  for (int round = 0; round < fit_rounds; ++round) {
    find_scales<<<by_sample, StencilFitPolicy::threads, 0, gpu.stream()>>>(on_device, fits);
    check_launch("find_scales");
    make_weights<<<by_sample, StencilFitPolicy::threads, 0, gpu.stream()>>>(on_device, fits);
    check_launch("make_weights");
    sum_equations<<<by_tile, 32 * StencilFitPolicy::sum_warps, 0, gpu.stream()>>>(on_device, fits);
    check_launch("sum_equations");
    solve_round<<<classes, 32, 0, gpu.stream()>>>(on_device, fits);
    check_launch("solve_round");
  }
  return fits;
}

}  // namespace

template <class T>
void fit_stencils(DeviceContext& gpu, const ClassSamples<T>& samples, FittedClass* fits) {
  const auto classes = static_cast<std::uint32_t>(samples.classes());
  if (classes == 0) return;
  launch_items(gpu, "keep_fits", classes, keep_fits<T>, samples.on_device(),
               solve(gpu, samples, fewest_fit_points), std::uint64_t{classes}, fits);
}

template <class T>
void sum_sampled_errors(DeviceContext& gpu, const ClassSamples<T>& samples, double half_step,
                        SampledErrors* classes) {
  if (samples.classes() == 0) return;
  const ClassFit* const solved = solve(gpu, samples, least_sampled_fit);
  const dim3 by_sample(blocks_for(samples.most_samples() + sum_lanes, StencilFitPolicy::threads),
                       static_cast<unsigned>(samples.classes()));
  sum_errors<<<by_sample, StencilFitPolicy::threads, 0, gpu.stream()>>>(samples.on_device(), solved,
                                                                        half_step, classes);
  check_launch("sum_errors");
}

template void fit_stencils(DeviceContext&, const ClassSamples<float>&, FittedClass*);
template void fit_stencils(DeviceContext&, const ClassSamples<double>&, FittedClass*);
template void sum_sampled_errors(DeviceContext&, const ClassSamples<float>&, double,
                                 SampledErrors*);
template void sum_sampled_errors(DeviceContext&, const ClassSamples<double>&, double,
                                 SampledErrors*);

}  // namespace cuszi::gpu
