#include <algorithm>
#include <numeric>

#include "core/multilevel/code_position.hpp"
#include "core/tuning/fit_sample.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/energy_fit.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned energy_threads = 128;

/// What is sampled of a class.
template <class T>
struct SampledClass {
  const DeviceClass<T>* view = nullptr;  ///< on the device
  LevelArray<T> array;
  std::uint64_t first = 0;  ///< of its samples among all
  std::uint64_t wanted = 0;
  std::uint64_t all = 0;  ///< points of the class
};

struct SampledPoint {
  EnergyFeatures features;
  std::uint8_t magnitude;
  bool is_missing;
};

template <class T>
__global__ void sample_kernel(const SampledClass<T>* samples, std::uint32_t classes,
                              std::uint64_t count, RankedBits missing, SampledPoint* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * energy_threads + threadIdx.x;
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

/// The samples of a group among those of all.
struct SampledGroup {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

constexpr unsigned fit_threads = 256;
constexpr unsigned chunk = 128;           ///< samples in shared memory
constexpr std::uint32_t part_size = 512;  ///< samples of a thread block
constexpr unsigned matrix_terms = energy_features * (energy_features + 1) / 2;
constexpr unsigned terms = matrix_terms + energy_features;
constexpr unsigned slices = fit_threads / terms;  ///< threads that share a term's samples

/// A sum of core's EnergySums: of a feature and another one, or the magnitude.
struct EnergyTerm {
  unsigned i;
  unsigned j;  ///< energy_features: the magnitude
};

__device__ EnergyTerm energy_term(unsigned number) {
  if (number >= matrix_terms) return {number - matrix_terms, energy_features};
  unsigned i = 0;
  for (unsigned row = energy_features; number >= row; --row, ++i) number -= row;
  return {i, i + number};
}

/// A group's own fit; zeroes to begin with.
struct GroupFit {
  std::int64_t sums[terms];  ///< of this round
  bool has_failed;
};

/// Samples on their way into sums. The last row: magnitudes. One more column, so that threads read
/// rows from different banks.
struct SampleChunk {
  std::int32_t features[energy_features + 1][chunk + 1];
  std::int64_t weights[chunk];

  __device__ void load(const SampledPoint* points, std::uint32_t count,
                       const EnergyWeights& before) {
    for (unsigned k = threadIdx.x; k < count; k += fit_threads) {
      const SampledPoint point = points[k];
      for (unsigned i = 0; i < energy_features; ++i) features[i][k] = point.features[i];
      features[energy_features][k] = point.magnitude;
      weights[k] = point.is_missing ? 0 : energy_fit_weight(weighted_sum(before, point.features));
    }
  }
};

/// Adds the samples of a part of a group, whose weights follow from the group's of the round
/// before. Integers: parts may come in any order.
__global__ void __launch_bounds__(fit_threads)
    sum_kernel(const SampledPoint* points, const SampledGroup* groups, const EnergyWeights* own,
               GroupFit* fits) {
  __shared__ SampleChunk samples;
  const SampledGroup group = groups[blockIdx.y];
  GroupFit& fit = fits[blockIdx.y];
  const std::uint32_t begin = blockIdx.x * part_size;
  if (begin >= group.count || fit.has_failed) return;
  const std::uint32_t end = min(group.count, begin + part_size);
  const EnergyWeights before = own[blockIdx.y];
  const unsigned number = threadIdx.x % terms;
  const unsigned slice = threadIdx.x / terms;
  const EnergyTerm term = energy_term(number);
  std::int64_t sum = 0;
  for (std::uint32_t first = begin; first < end; first += chunk) {
    const std::uint32_t here = min(chunk, end - first);
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

/// What a warp needs to solve a group's equations.
struct EnergySolving {
  EnergySums sums;
  EnergyEquations equations;
  std::array<double, energy_features> solution;
};

/// Solves the equations of a round, a warp a group; the sums begin anew. What has no solution keeps
/// the weights of the round before.
__global__ void __launch_bounds__(32) solve_kernel(GroupFit* fits, EnergyWeights* own) {
  __shared__ Uninitialised<EnergySolving> shared;
  EnergySolving& state = shared.get();
  GroupFit& fit = fits[blockIdx.x];
  if (fit.has_failed) return;
  const unsigned lane = threadIdx.x;
  for (unsigned number = lane; number < terms; number += 32) {
    const EnergyTerm term = energy_term(number);
    (term.j == energy_features ? state.sums.right[term.i] : state.sums.matrix[term.i][term.j]) =
        fit.sums[number];
    fit.sums[number] = 0;
  }
  __syncwarp();
  state.equations.unknowns = energy_features;
  if (lane < energy_features) put_row(state.sums, lane, state.equations);
  __syncwarp();
  if (!solve_in_place(state.equations, energy_ridge, state.solution, RowsOfWarp{lane})) {
    if (lane == 0) fit.has_failed = true;
  } else if (lane < energy_features) {
    own[blockIdx.x][lane] = energy_weight_of(state.solution[lane]);
  }
}

/// The own weights of each group, from those that stand there on; groups with too few samples get
/// some that nobody reads.
void fit_groups(DeviceContext& gpu, const SampledPoint* points,
                std::span<const SampledGroup> groups, const SampledGroup* on_device,
                EnergyWeights* own) {
  std::uint32_t most = 0;
  for (const SampledGroup& group : groups) most = std::max(most, group.count);
  if (most == 0) return;
  auto* const fits = gpu.take_zeroed<GroupFit>(groups.size());
  const auto count = static_cast<unsigned>(groups.size());
  const dim3 grid(blocks_for(most, part_size), count);
  for (int round = 0; round < energy_fit_rounds; ++round) {
    sum_kernel<<<grid, fit_threads, 0, gpu.stream()>>>(points, on_device, own, fits);
    check_launch("sum_energies");
    solve_kernel<<<count, 32, 0, gpu.stream()>>>(fits, own);
    check_launch("solve_energies");
  }
}

/// A group's samples under some weights.
struct WeightedGroup {
  std::uint32_t group = 0;
  std::uint32_t weights = 0;  ///< among those remembered, then the groups' own
};

constexpr unsigned token_row = outlier_token + 1;
constexpr unsigned energy_counts = contexts_per_group * token_row;

using SampleCount = std::uint16_t;  ///< of a group: its sample has about 2^13 points at most

/// How often each token occurs in each bucket; one block for each pair.
__global__ void __launch_bounds__(energy_threads)
    count_kernel(const SampledPoint* points, const SampledGroup* groups, const WeightedGroup* pairs,
                 const EnergyWeights* weights, SampleCount* counts) {
  __shared__ std::uint32_t bins[energy_counts];
  for (unsigned i = threadIdx.x; i < energy_counts; i += energy_threads) bins[i] = 0;
  __syncthreads();
  const WeightedGroup pair = pairs[blockIdx.x];
  const SampledGroup group = groups[pair.group];
  const EnergyWeights mine = weights[pair.weights];
  for (std::uint32_t k = threadIdx.x; k < group.count; k += energy_threads) {
    const SampledPoint& point = points[group.first + k];
    if (point.is_missing) continue;
    const unsigned bucket = bucket_of(weighted_sum(mine, point.features));
    atomicAdd(&bins[bucket * token_row + token_of_magnitude(point.magnitude)], 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < energy_counts; i += energy_threads) {
    counts[std::size_t{blockIdx.x} * energy_counts + i] = static_cast<SampleCount>(bins[i]);
  }
}

/// A group as the host sees it.
struct HostGroup {
  int pass;
  std::size_t kind;          ///< see RememberedWeights
  std::uint64_t points = 0;  ///< that its sample stands for
};

/// The choice of weights for the groups of some passes.
template <class T>
class EnergyChoice {
 public:
  EnergyChoice(DeviceContext& gpu, const LevelFrame<T>& frame, PassRange passes)
      : gpu_(gpu), frame_(frame), passes_(passes) {
    for (int number = passes.first; number < passes.end; ++number) add_pass(number);
    list_pairs();
  }

  void measure(const RankedBits& missing, const RememberedWeights& remembered) {
    const std::size_t groups = groups_.size();
    auto* const points = gpu_.take<SampledPoint>(samples_);
    std::vector<EnergyWeights> entry(remembered.all().begin(), remembered.all().end());
    entry.resize(RememberedWeights::kinds + groups, default_weights);
    CopyList uploads;
    const auto* const classes = upload(gpu_, classes_.data(), classes_.size(), uploads);
    const auto* const sampled = upload(gpu_, sampled_.data(), sampled_.size(), uploads);
    const auto* const pairs = upload(gpu_, pairs_.data(), pairs_.size(), uploads);
    EnergyWeights* const weights = upload(gpu_, entry.data(), entry.size(), uploads);
    uploads.run(gpu_.stream());
    sample_kernel<T><<<blocks_for(samples_, energy_threads), energy_threads, 0, gpu_.stream()>>>(
        classes, static_cast<std::uint32_t>(classes_.size()), samples_, missing, points);
    check_launch("sample_energies");
    EnergyWeights* const own = weights + RememberedWeights::kinds;
    fit_groups(gpu_, points, sampled_, sampled, own);
    auto* const counts = gpu_.take<SampleCount>(pairs_.size() * energy_counts);
    count_kernel<<<static_cast<unsigned>(pairs_.size()), energy_threads, 0, gpu_.stream()>>>(
        points, sampled, pairs, weights, counts);
    check_launch("count_energies");
    CopyList downloads;
    own_ = download(gpu_, own, groups, downloads);
    counts_ = download(gpu_, counts, pairs_.size() * energy_counts, downloads);
    downloads.run(gpu_.stream());
    gpu_.sync();
  }

  std::vector<std::vector<ContextWeights>> choose(RememberedWeights& remembered) const {
    std::vector<WeightCosts> costs(groups_.size());
    constexpr std::size_t parts = 3;
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
        const std::uint64_t wanted = energy_sample(points.points(), of_group[group]);
        classes_.push_back({view.classes + c, view.array, samples_, wanted, points.points()});
        samples_ += wanted;
        sampled.count += static_cast<std::uint32_t>(wanted);
      }
      sampled_.push_back(sampled);
      groups_.push_back(on_host);
    }
  }

  /// Every group's own weights, and all that it could remember.
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
    const SampleCount* from = counts_ + pair * energy_counts;
    for (Counts& bucket : counts) {
      std::copy_n(from, token_row, bucket.begin());
      from += token_row;
    }
    return counts;
  }

  /// The number of samples of a group that are not missing.
  std::uint64_t used(std::size_t group) const {
    const SampleCount* const from = counts_ + first_pairs_[group] * energy_counts;
    return std::accumulate(from, from + energy_counts, std::uint64_t{0});
  }

  /// Finds one of a group's costs: of its own weights, of none, and of those that it is likely to
  /// remember, which are known when the groups before it have chosen.
  void price(std::size_t group, std::size_t part, WeightCosts& costs) const {
    const std::uint64_t samples = used(group);
    if (samples == 0) return;
    if (part == 0) {
      if (samples >= fewest_energy_points) costs.own = cost_of(group, first_pairs_[group]);
    } else if (part == 1) {
      costs.none = cost_of_none(group);
    } else {
      costs.remembered = cost_of(group, likely_pair(group));
    }
  }

  Cost cost_of(std::size_t group, std::size_t pair) const {
    return energy_cost(counts_of(pair), groups_[group].points);
  }

  Cost cost_of_none(std::size_t group) const {
    std::vector<Counts> in_one(contexts_per_group, Counts{});
    for (const Counts& bucket : counts_of(first_pairs_[group])) {
      for (std::size_t t = 0; t < bucket.size(); ++t) in_one.front()[t] += bucket[t];
    }
    return energy_cost(std::move(in_one), groups_[group].points);
  }

  /// With the own weights of the group of its kind before it, or those remembered of others.
  std::size_t likely_pair(std::size_t group) const { return first_pairs_[group + 1] - 1; }

  /// Chooses for the groups of a kind, one after the other.
  void choose_kind(std::size_t kind, std::span<const WeightCosts> costs,
                   RememberedWeights& remembered, std::span<ContextWeights> chosen) const {
    EnergyWeights& last = remembered.of_kind(kind);
    std::uint32_t source = static_cast<std::uint32_t>(kind);  // of `last`, as in a WeightedGroup
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
  std::vector<std::size_t> first_pairs_;  ///< of each group, and where the last one's end
  std::uint64_t samples_ = 0;
  const EnergyWeights* own_ = nullptr;   ///< of the groups, on the host
  const SampleCount* counts_ = nullptr;  ///< of the pairs, on the host
};

}  // namespace

template <class T>
std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext& gpu,
                                                        const LevelFrame<T>& frame,
                                                        PassRange passes, const RankedBits& missing,
                                                        RememberedWeights& remembered) {
  EnergyChoice<T> choice(gpu, frame, passes);
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
