#include <algorithm>
#include <numeric>

#include "core/multilevel/code_position.hpp"
#include "core/tuning/fit_sample.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/context_fit.cuh"
#include "gpu/tuning/tuning.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
struct SampledClass {
  const DeviceClass<T>* view = nullptr;  ///< on the device
  LevelArray<T> array;
  std::uint64_t first = 0;  ///< sample among all
  std::uint64_t wanted = 0;
  std::uint64_t all = 0;  ///< points of the class
};

struct SampledPoint {
  Features features;
  std::uint8_t magnitude;
  bool is_missing;
};

template <class T>
__global__ void sample_kernel(const SampledClass<T>* samples, std::uint32_t classes,
                              std::uint64_t count, RankedBits missing, SampledPoint* out) {
  const std::uint64_t i =
      std::uint64_t{blockIdx.x} * ContextFitPolicy::sample_threads + threadIdx.x;
  if (i >= count) return;
  std::uint32_t c = 0;
  while (c + 1 < classes && samples[c + 1].first <= i) ++c;
  const SampledClass<T>& sample = samples[c];
  const PointClass& points = sample.view->plan.points;
  const std::uint64_t k = sampled_point(i - sample.first, sample.wanted, sample.all);
  const Index4 at = cuszi::position_of(points, raster_point(points, k));
  const LevelLayout& layout = sample.array.layout;
  const LevelPointer<T> values(sample.array.values, layout, at);
  const LevelPointer<std::uint8_t> magnitudes(sample.array.magnitudes, layout, at);
  const PointAt<LevelPointer<T>> p{sample.view->grid, points, at, values};
  out[i] = {features_of(sample.view->plan, p, magnitudes), *magnitudes,
            missing.words != nullptr && missing.test(layout.original_offset_of(at))};
}

struct SampledGroup {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

constexpr unsigned matrix_terms = feature_count * (feature_count + 1) / 2;
constexpr unsigned terms = matrix_terms + feature_count;
constexpr unsigned slices = ContextFitPolicy::threads / terms;  ///< threads per term

/// A term of ContextSums: a feature times another one, or times the magnitude.
struct ContextTerm {
  unsigned i;
  unsigned j;  ///< feature_count: the magnitude
};

__device__ ContextTerm context_term(unsigned number) {
  if (number >= matrix_terms) return {number - matrix_terms, feature_count};
  unsigned i = 0;
  for (unsigned row = feature_count; number >= row; --row, ++i) number -= row;
  return {i, i + number};
}

/// Zeroed first.
struct GroupFit {
  std::int64_t sums[terms];  ///< of this round
  bool has_failed;
};

/// By feature, magnitudes last; padded against bank conflicts.
struct SampleChunk {
  std::int32_t features[feature_count + 1][ContextFitPolicy::chunk + 1];
  std::int64_t weights[ContextFitPolicy::chunk];

  __device__ void load(const SampledPoint* points, std::uint32_t count,
                       const FeatureWeights& before) {
    for (unsigned k = threadIdx.x; k < count; k += ContextFitPolicy::threads) {
      const SampledPoint point = points[k];
      for (unsigned i = 0; i < feature_count; ++i) features[i][k] = point.features[i];
      features[feature_count][k] = point.magnitude;
      weights[k] = point.is_missing ? 0 : context_fit_weight(weighted_sum(before, point.features));
    }
  }
};

/// Integers: parts are added in any order.
__global__ void __launch_bounds__(ContextFitPolicy::threads)
    sum_kernel(const SampledPoint* points, const SampledGroup* groups, const FeatureWeights* own,
               GroupFit* fits) {
  __shared__ SampleChunk samples;
  const SampledGroup group = groups[blockIdx.y];
  GroupFit& fit = fits[blockIdx.y];
  const std::uint32_t begin = blockIdx.x * ContextFitPolicy::part_size;
  if (begin >= group.count || fit.has_failed) return;
  const std::uint32_t end = min(group.count, begin + ContextFitPolicy::part_size);
  const FeatureWeights before = own[blockIdx.y];
  const unsigned number = threadIdx.x % terms;
  const unsigned slice = threadIdx.x / terms;
  const ContextTerm term = context_term(number);
  std::int64_t sum = 0;
  for (std::uint32_t first = begin; first < end; first += ContextFitPolicy::chunk) {
    const std::uint32_t here = min(ContextFitPolicy::chunk, end - first);
    __syncthreads();
    samples.load(points + group.first + first, here, before);
    __syncthreads();
    if (slice >= slices) continue;
    for (unsigned k = slice; k < here; k += slices) {
      sum += samples.weights[k] * samples.features[term.i][k] * samples.features[term.j][k];
    }
  }
  if (slice >= slices) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&fit.sums[number]),
            static_cast<unsigned long long>(sum));
}

struct ContextSolving {
  ContextSums sums;
  ContextEquations equations;
  std::array<double, feature_count> solution;
};

/// One warp per group. Clears the sums; singular rounds keep their weights.
__global__ void __launch_bounds__(32) solve_kernel(GroupFit* fits, FeatureWeights* own) {
  __shared__ Uninitialised<ContextSolving> shared;
  ContextSolving& state = shared.get();
  GroupFit& fit = fits[blockIdx.x];
  if (fit.has_failed) return;
  const unsigned lane = threadIdx.x;
  for (unsigned number = lane; number < terms; number += 32) {
    const ContextTerm term = context_term(number);
    (term.j == feature_count ? state.sums.right[term.i] : state.sums.matrix[term.i][term.j]) =
        fit.sums[number];
    fit.sums[number] = 0;
  }
  __syncwarp();
  state.equations.unknowns = feature_count;
  if (lane < feature_count) put_row(state.sums, lane, state.equations);
  __syncwarp();
  if (!solve_in_place(state.equations, context_ridge, state.solution, RowsOfWarp{lane})) {
    if (lane == 0) fit.has_failed = true;
  } else if (lane < feature_count) {
    own[blockIdx.x][lane] = feature_weight_of(state.solution[lane]);
  }
}

/// Groups with too few samples get weights that are not used.
void fit_groups(DeviceContext& gpu, const SampledPoint* points,
                std::span<const SampledGroup> groups, const SampledGroup* on_device,
                FeatureWeights* own) {
  std::uint32_t most = 0;
  for (const SampledGroup& group : groups) most = std::max(most, group.count);
  if (most == 0) return;
  auto* const fits = gpu.take_zeroed<GroupFit>(groups.size());
  const auto count = static_cast<unsigned>(groups.size());
  const dim3 grid(blocks_for(most, ContextFitPolicy::part_size), count);
  for (int round = 0; round < context_fit_rounds; ++round) {
    sum_kernel<<<grid, ContextFitPolicy::threads, 0, gpu.stream()>>>(points, on_device, own, fits);
    check_launch("sum_energies");
    solve_kernel<<<count, 32, 0, gpu.stream()>>>(fits, own);
    check_launch("solve_energies");
  }
}

struct WeightedGroup {
  std::uint32_t group = 0;
  std::uint32_t weights = 0;  ///< index among remembered ones, then own ones
};

constexpr unsigned token_row = outlier_token + 1;
constexpr unsigned context_counts = contexts_per_group * token_row;

using SampleCount = std::uint16_t;  ///< a group has about 2^13 samples at most

/// Tokens by bucket; one block per pair of group and weights.
__global__ void __launch_bounds__(ContextFitPolicy::sample_threads)
    count_kernel(const SampledPoint* points, const SampledGroup* groups, const WeightedGroup* pairs,
                 const FeatureWeights* weights, SampleCount* counts) {
  __shared__ std::uint32_t bins[context_counts];
  for (unsigned i = threadIdx.x; i < context_counts; i += ContextFitPolicy::sample_threads)
    bins[i] = 0;
  __syncthreads();
  const WeightedGroup pair = pairs[blockIdx.x];
  const SampledGroup group = groups[pair.group];
  const FeatureWeights mine = weights[pair.weights];
  for (std::uint32_t k = threadIdx.x; k < group.count; k += ContextFitPolicy::sample_threads) {
    const SampledPoint& point = points[group.first + k];
    if (point.is_missing) continue;
    const unsigned bucket = bucket_of(weighted_sum(mine, point.features));
    atomicAdd(&bins[bucket * token_row + token_of_magnitude(point.magnitude)], 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < context_counts; i += ContextFitPolicy::sample_threads) {
    counts[std::size_t{blockIdx.x} * context_counts + i] = static_cast<SampleCount>(bins[i]);
  }
}

struct HostGroup {
  int pass;
  std::size_t kind;          ///< see RememberedWeights
  std::uint64_t points = 0;  ///< represented by the sample
};

template <class T>
class ContextChoice {
 public:
  ContextChoice(DeviceContext& gpu, const LevelFrame<T>& frame, PassRange passes)
      : gpu_(gpu), frame_(frame), passes_(passes) {
    for (int number = passes.first; number < passes.end; ++number) add_pass(number);
    list_pairs();
  }

  void measure(const RankedBits& missing, const RememberedWeights& remembered) {
    const std::size_t groups = groups_.size();
    auto* const points = gpu_.take<SampledPoint>(samples_);
    std::vector<FeatureWeights> entry(remembered.all().begin(), remembered.all().end());
    entry.resize(RememberedWeights::kinds + groups, default_weights);
    CopyList uploads;
    const auto* const classes = upload(gpu_, classes_.data(), classes_.size(), uploads);
    const auto* const sampled = upload(gpu_, sampled_.data(), sampled_.size(), uploads);
    const auto* const pairs = upload(gpu_, pairs_.data(), pairs_.size(), uploads);
    FeatureWeights* const weights = upload(gpu_, entry.data(), entry.size(), uploads);
    uploads.run(gpu_.stream());
    sample_kernel<T><<<blocks_for(samples_, ContextFitPolicy::sample_threads),
                       ContextFitPolicy::sample_threads, 0, gpu_.stream()>>>(
        classes, static_cast<std::uint32_t>(classes_.size()), samples_, missing, points);
    check_launch("sample_energies");
    FeatureWeights* const own = weights + RememberedWeights::kinds;
    fit_groups(gpu_, points, sampled_, sampled, own);
    auto* const counts = gpu_.take<SampleCount>(pairs_.size() * context_counts);
    count_kernel<<<static_cast<unsigned>(pairs_.size()), ContextFitPolicy::sample_threads, 0,
                   gpu_.stream()>>>(points, sampled, pairs, weights, counts);
    check_launch("count_energies");
    CopyList downloads;
    own_ = download(gpu_, own, groups, downloads);
    counts_ = download(gpu_, counts, pairs_.size() * context_counts, downloads);
    downloads.run(gpu_.stream());
    gpu_.sync();
  }

  std::vector<std::vector<ContextWeights>> choose(RememberedWeights& remembered) const {
    std::vector<WeightCosts> costs(groups_.size());
    constexpr std::size_t parts = 2;
    gpu_.host().for_each(parts * groups_.size(),
                         [&](std::size_t i) { price(i / parts, i % parts, costs[i / parts]); });
    std::vector<ContextWeights> chosen(groups_.size());
    gpu_.host().for_each(RememberedWeights::kinds,
                         [&](std::size_t kind) { choose_kind(kind, costs, remembered, chosen); });
    std::vector<std::vector<ContextWeights>> result(
        static_cast<std::size_t>(passes_.end - passes_.first));
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      result[static_cast<std::size_t>(groups_[g].pass - passes_.first)].push_back(chosen[g]);
    }
    return result;
  }

 private:
  void add_pass(int number) {
    const Pass& pass = frame_.pass(number);
    const auto classes = frame_.plan().classes_of(pass);
    const PassView<T>& view = frame_.view(number);
    std::vector<std::uint64_t> of_group(pass.groups, 0);
    for (const ClassPlan<T>& c : classes) of_group[c.points.group] += c.points.points();
    for (std::uint32_t group = 0; group < pass.groups; ++group) {
      SampledGroup sampled{static_cast<std::uint32_t>(samples_), 0};
      HostGroup on_host{number, 0, of_group[group]};
      for (std::size_t c = 0; c < classes.size(); ++c) {
        const PointClass& points = classes[c].points;
        if (points.group != group) continue;
        on_host.kind = RememberedWeights::kind_of(points);
        const std::uint64_t wanted = context_sample(points.points(), of_group[group]);
        classes_.push_back({view.classes + c, view.array, samples_, wanted, points.points()});
        samples_ += wanted;
        sampled.count += static_cast<std::uint32_t>(wanted);
      }
      sampled_.push_back(sampled);
      groups_.push_back(on_host);
    }
  }

  void list_pairs() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      first_pairs_.push_back(pairs_.size());
      const auto group = static_cast<std::uint32_t>(g);
      const auto add = [&](std::size_t weights) {
        pairs_.push_back({group, static_cast<std::uint32_t>(weights)});
      };
      add(RememberedWeights::kinds + g);
      add(groups_[g].kind);
      for (std::size_t before = 0; before < g; ++before) {
        if (groups_[before].kind == groups_[g].kind) add(RememberedWeights::kinds + before);
      }
    }
    first_pairs_.push_back(pairs_.size());
  }

  std::vector<Counts> counts_of(std::size_t pair) const {
    std::vector<Counts> counts(contexts_per_group, Counts{});
    const SampleCount* from = counts_ + pair * context_counts;
    for (Counts& bucket : counts) {
      std::copy_n(from, token_row, bucket.begin());
      from += token_row;
    }
    return counts;
  }

  /// Without missing points.
  std::uint64_t used(std::size_t group) const {
    const SampleCount* const from = counts_ + first_pairs_[group] * context_counts;
    return std::accumulate(from, from + context_counts, std::uint64_t{0});
  }

  /// Costs of own weights, and of those likely to be remembered, which are known only
  /// after earlier groups have chosen.
  void price(std::size_t group, std::size_t part, WeightCosts& costs) const {
    const std::uint64_t samples = used(group);
    if (samples == 0) return;
    if (part == 0) {
      if (samples >= fewest_fitted_points) costs.own = cost_of(group, first_pairs_[group]);
    } else {
      costs.remembered = cost_of(group, likely_pair(group));
    }
  }

  Cost cost_of(std::size_t group, std::size_t pair) const {
    return context_cost(counts_of(pair), groups_[group].points);
  }

  /// Own weights of the previous group of the kind, or those remembered.
  std::size_t likely_pair(std::size_t group) const { return first_pairs_[group + 1] - 1; }

  /// In order: each group remembers the choice before.
  void choose_kind(std::size_t kind, std::span<const WeightCosts> costs,
                   RememberedWeights& remembered, std::span<ContextWeights> chosen) const {
    FeatureWeights& last = remembered.of_kind(kind);
    std::uint32_t source =
        static_cast<std::uint32_t>(kind);  // index of `last`, as in a WeightedGroup
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].kind != kind) continue;
      chosen[g] = {WeightsKind::remembered, last};
      if (used(g) == 0) continue;
      WeightCosts all = costs[g];
      const std::size_t pair = pair_of(g, source);
      if (pair != likely_pair(g)) all.remembered = cost_of(g, pair);
      chosen[g] = choose_weights(all, last, own_[g]);
      if (chosen[g].kind != WeightsKind::own) continue;
      last = own_[g];
      source = static_cast<std::uint32_t>(RememberedWeights::kinds + g);
    }
  }

  std::size_t pair_of(std::size_t group, std::uint32_t weights) const {
    std::size_t pair = first_pairs_[group];
    while (pairs_[pair].weights != weights) ++pair;
    return pair;
  }

  DeviceContext& gpu_;
  const LevelFrame<T>& frame_;
  PassRange passes_;
  std::vector<SampledClass<T>> classes_;
  std::vector<SampledGroup> sampled_;
  std::vector<HostGroup> groups_;
  std::vector<WeightedGroup> pairs_;
  std::vector<std::size_t> first_pairs_;  ///< by group, and the end
  std::uint64_t samples_ = 0;
  const FeatureWeights* own_ = nullptr;  ///< on the host
  const SampleCount* counts_ = nullptr;  ///< by pair, on the host
};

}  // namespace

template <class T>
std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext& gpu,
                                                        const LevelFrame<T>& frame,
                                                        PassRange passes, const RankedBits& missing,
                                                        RememberedWeights& remembered) {
  ContextChoice<T> choice(gpu, frame, passes);
  choice.measure(missing, remembered);
  return choice.choose(remembered);
}

template std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext&,
                                                                 const LevelFrame<float>&,
                                                                 PassRange, const RankedBits&,
                                                                 RememberedWeights&);
template std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext&,
                                                                 const LevelFrame<double>&,
                                                                 PassRange, const RankedBits&,
                                                                 RememberedWeights&);

}  // namespace cuszi::gpu
