#include "core/trials.hpp"

#include <algorithm>
#include <vector>

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

/// The candidate, set by `apply`, that costs least.
template <class Candidate, class Apply>
Candidate cheapest(const std::vector<Candidate>& candidates, const MultilevelParams& params,
                   const TrialCost& cost, const Apply& apply,
                   std::optional<std::uint64_t>& lowest) {
  std::size_t best = 0;
  lowest.reset();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    MultilevelParams trial = params;
    apply(trial, candidates[i]);
    const std::uint64_t bytes = cost(trial);
    if (lowest && bytes >= *lowest) continue;
    best = i;
    lowest = bytes;
  }
  return candidates[best];
}

}  // namespace

TrialBox trial_box(const Dims& dims, Effort effort) {
  const Dims squeezed = dims.squeezed();
  std::vector<std::uint64_t> extents(squeezed.extents().begin(), squeezed.extents().end());
  const auto count = [&] {
    std::uint64_t points = 1;
    for (const std::uint64_t extent : extents) points *= extent;
    return points;
  };
  const std::uint64_t limit = effort == Effort::best ? 8 * trial_points : trial_points;
  while (count() > (squeezed.count() <= whole_points ? whole_points : limit)) {
    std::uint64_t& longest = *std::max_element(extents.begin(), extents.end());
    longest = (longest + 1) / 2;
  }
  TrialBox box{*Dims::make(extents), {}};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    box.first.at(axis) = (squeezed.extents()[axis] - extents[axis]) / 2;
  }
  return box;
}

std::optional<std::uint64_t> choose_by_trials(MultilevelParams& params,
                                              const MultilevelConfig& config, const Dims& dims,
                                              const TrialBox& box, const TrialCost& cost) {
  std::optional<std::uint64_t> lowest;
  if (config.effort == Effort::fast) return lowest;
  const int rank = dims.squeezed().rank();
  MultilevelParams trial = params;
  Axes axes{params.merged, params.roles};
  const auto set_axes = [&](MultilevelParams& p, const Axes& a) {
    p.set_axes(box.dims, a.merged, a.roles);
  };
  set_axes(trial, axes);
  if (!config.axes && box.dims.rank() == rank) {
    axes = cheapest(axes_to_try(rank, config.effort), trial, cost, set_axes, lowest);
    set_axes(trial, axes);
  }
  if (!config.reach) {
    trial.reach = cheapest(
        std::vector<int>{3, 5, 7}, trial, cost,
        [](MultilevelParams& p, int reach) { p.reach = reach; }, lowest);
  }
  if (!config.alpha && !config.beta) {
    const LevelBounds bounds = cheapest(
        bounds_to_try(config.effort), trial, cost,
        [](MultilevelParams& p, LevelBounds b) {
          p.alpha = b.alpha;
          p.beta = b.beta;
        },
        lowest);
    trial.alpha = bounds.alpha;
    trial.beta = bounds.beta;
  }
  params.set_axes(dims, axes.merged, axes.roles);
  params.reach = trial.reach;
  params.alpha = trial.alpha;
  params.beta = trial.beta;
  return lowest;
}

}  // namespace cuszi
