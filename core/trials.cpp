#include "core/trials.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/rest.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t whole_points = std::uint64_t{1} << 21;
constexpr std::uint64_t trial_points = std::uint64_t{1} << 18;

struct Axes {
  bool merged = false;
  std::array<AxisRole, max_axes> roles{};
};

/// One axis of the padded four with a role, the others lattice axes.
Axes with_role(unsigned axis, AxisRole role, bool merged = false) {
  Axes axes{merged, {}};
  axes.roles[axis] = role;
  return axes;
}

std::vector<Axes> axes_to_try(int rank, Effort effort) {
  if (rank == 1) return {Axes{}};
  const auto slowest = max_axes - static_cast<unsigned>(rank);
  if (rank == max_axes) {
    Axes both = with_role(0, AxisRole::independent);
    both.roles[1] = AxisRole::layered;
    Axes neither = both;
    neither.roles[1] = AxisRole::independent;
    return {with_role(0, AxisRole::independent),
            with_role(0, AxisRole::layered),
            with_role(1, AxisRole::layered, true),
            both,
            neither,
            with_role(1, AxisRole::lattice, true)};
  }
  std::vector<Axes> all{Axes{}, with_role(slowest, AxisRole::layered),
                        with_role(slowest, AxisRole::independent)};
  if (effort != Effort::best) return all;
  for (unsigned axis = slowest + 1; axis < max_axes; ++axis) {
    all.push_back(with_role(axis, AxisRole::layered));
    all.push_back(with_role(axis, AxisRole::independent));
  }
  return all;
}

struct LevelBounds {
  std::uint8_t alpha;
  std::uint8_t beta;
};

/// In 64ths.
std::vector<LevelBounds> bounds_to_try(Effort effort) {
  std::vector<LevelBounds> all{{80, 128}, {64, 64}, {96, 192}};
  if (effort == Effort::best) all.insert(all.end(), {{72, 96}, {112, 250}, {80, 96}, {96, 128}});
  return all;
}

/// Parameters for the trial box, and what they cost.
struct Trial {
  MultilevelParams params;
  std::uint64_t bytes;
};

/// What has been tried, the cheapest first, and of the same cost the earlier.
class Trials {
 public:
  explicit Trials(const TrialCosts& costs) : costs_(costs) {}

  /// Tries every candidate in place of what the cheapest `count` trials have, all at once.
  /// `set(params, candidate)` returns whether that changes anything.
  template <class Candidate, class Set>
  void vary(std::size_t count, const std::vector<Candidate>& candidates, const Set& set) {
    std::vector<MultilevelParams> varied;
    for (std::size_t i = 0; i < std::min(count, all_.size()); ++i) {
      for (const Candidate& candidate : candidates) {
        MultilevelParams params = all_[i].params;
        if (set(params, candidate)) varied.push_back(std::move(params));
      }
    }
    add(varied);
  }

  void add(std::span<const MultilevelParams> candidates) {
    if (candidates.empty()) return;
    const std::vector<std::uint64_t> bytes = costs_(candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      all_.push_back({candidates[i], bytes.at(i)});
    }
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Trial& a, const Trial& b) { return a.bytes < b.bytes; });
  }

  const Trial& best() const { return all_.front(); }

 private:
  const TrialCosts& costs_;
  std::vector<Trial> all_;
};

/// The Lorenzo predictor with the step of `other`, or one that a common value is a multiple of;
/// tokens make a large radius free.
LorenzoParams lorenzo_like(const MultilevelParams& other, const Rest& rest, const Dims& dims) {
  LorenzoParams params = LorenzoParams::draft({}, dims.as_3d());
  params.half_step = half_step_through(rest, other.half_step);
  params.radius = other.radius;
  return params;
}

/// The coders to try after the Lorenzo predictor: tokens see no pattern in the raw bits of large
/// codes, which values on a coarse grid make.
std::vector<CoderId> coders_to_try(const FrameConfig& config) {
  if (config.automatic_coder && config.coder == CoderId::ans) {
    return {CoderId::ans, CoderId::huffman};
  }
  return {config.coder};
}

/// What trials of this frame measure.
class FrameTrials {
 public:
  FrameTrials(EncodeSession& session, const FrameConfig& config, const Selection& box, double bound)
      : session_(session), config_(config), box_(box), bound_(bound) {}

  std::vector<std::uint64_t> costs(std::span<const MultilevelParams> candidates) {
    std::vector<FrameCoding> codings;
    for (const MultilevelParams& params : candidates) {
      codings.push_back(
          {params, {bound_, config_.predictor.multilevel.slack}, AnsParams{params.radius}, {}});
    }
    return trials().costs(codings);
  }

  struct CoderCost {
    CoderId coder;
    std::uint64_t bytes;
  };

  /// The best coder after this predictor; the earlier one on ties.
  CoderCost best_coder(const LorenzoParams& params) {
    const std::vector<CoderId> coders = coders_to_try(config_);
    std::vector<FrameCoding> codings;
    for (const CoderId coder : coders)
      codings.push_back({params, {bound_}, coding(coder, params), {}});
    const std::vector<std::uint64_t> bytes = trials().costs(codings);
    const auto best = std::min_element(bytes.begin(), bytes.end());
    return {coders.at(static_cast<std::size_t>(best - bytes.begin())), *best};
  }

 private:
  CoderParams coding(CoderId coder, const LorenzoParams& params) const {
    if (coder == CoderId::ans) return AnsParams{params.radius};
    return coder_params(coder, config_, params.radius);
  }

  TrialSession& trials() {
    if (!trials_) trials_ = session_.trials(box_);
    return *trials_;
  }

  EncodeSession& session_;
  const FrameConfig& config_;
  Selection box_;
  double bound_;
  std::unique_ptr<TrialSession> trials_;
};

}  // namespace

Selection trial_box(const Dims& dims, Effort effort) {
  const Dims squeezed = dims.squeezed();
  const std::uint64_t limit = effort == Effort::best ? 8 * trial_points : trial_points;
  return box_of(squeezed, squeezed.count() <= whole_points ? whole_points : limit);
}

std::optional<std::uint64_t> choose_by_trials(MultilevelParams& params,
                                              const MultilevelConfig& config, const Dims& dims,
                                              const Dims& box, const TrialCosts& costs) {
  const int rank = dims.squeezed().rank();
  const bool axes_are_free = !config.axes && !config.roles && box.rank() == rank;
  const bool bounds_are_free = !config.alpha && !config.beta;
  const bool nothing_is_free = !axes_are_free && config.reach && !bounds_are_free;
  if (config.effort == Effort::fast || nothing_is_free) return std::nullopt;

  MultilevelParams start = params;
  start.lattice = Lattice::of(box, params.lattice.merged, params.lattice.roles);
  Trials trials(costs);
  trials.add(std::span(&start, 1));
  if (axes_are_free) {
    trials.vary(1, axes_to_try(rank, config.effort), [&](MultilevelParams& p, const Axes& axes) {
      if (p.lattice.merged == axes.merged && p.lattice.roles == axes.roles) return false;
      p.lattice = Lattice::of(box, axes.merged, axes.roles);
      return true;
    });
  }
  if (!config.reach) {
    // What the runner-up's axes lose at a short reach, they may win back at a longer one.
    trials.vary(2, std::vector<int>{3, 5, 7}, [](MultilevelParams& p, int reach) {
      return std::exchange(p.reach, reach) != reach;
    });
  }
  if (bounds_are_free) {
    trials.vary(1, bounds_to_try(config.effort), [](MultilevelParams& p, LevelBounds bounds) {
      const bool changes = p.alpha != bounds.alpha || p.beta != bounds.beta;
      p.alpha = bounds.alpha;
      p.beta = bounds.beta;
      return changes;
    });
  }
  const MultilevelParams& best = trials.best().params;
  params.lattice = Lattice::of(dims, best.lattice.merged, best.lattice.roles);
  params.reach = best.reach;
  params.alpha = best.alpha;
  params.beta = best.beta;
  return trials.best().bytes;
}

Method choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                     const Dims& dims, double bound) {
  auto* const params = std::get_if<MultilevelParams>(&method.predictor);
  if (params == nullptr) return method;
  const Selection selected = trial_box(dims, config.predictor.multilevel.effort);
  const Dims box = selected.dims();
  const Rest rest = find_rest(session, dims.count(), bound);
  rest_at(rest, *params);
  FrameTrials trials(session, config, selected, bound);
  const auto lowest = choose_by_trials(
      *params, config.predictor.multilevel, dims, box,
      [&](std::span<const MultilevelParams> candidates) { return trials.costs(candidates); });
  if (config.predictor.automatic && lowest) {
    const auto [coder, bytes] = trials.best_coder(lorenzo_like(*params, rest, box));
    if (bytes < *lowest) return {lorenzo_like(*params, rest, dims), coder};
  }
  session.fit(method.predictor);
  return method;
}

}  // namespace cuszi
