#include "core/choices/trials.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/cells/slices.hpp"
#include "core/choices/background.hpp"
#include "core/choices/frame_trials.hpp"
#include "core/choices/policy.hpp"
#include "core/tuning/candidates.hpp"
#include "core/tuning/sampled_cost.hpp"

namespace cuszi {

namespace {

using namespace policy;

/// 1 / `share` of the usual points.
TrialPart part_of(const Dims& dims, std::uint64_t share) {
  if (dims.count() < vast_frame) return TrialPart::of(dims, usual_part / share, 1);
  const std::uint64_t box = std::min(std::bit_floor(dims.count() / boxes_in_frame), largest_box);
  return TrialPart::of(dims, box / share, TrialPart::most_boxes);
}

/// Not set by the user.
struct Freedom {
  bool axes;
  bool reach;
  bool bounds;
};

/// Parameters of the frame, bytes of its part.
struct Trial {
  MultilevelParams params;
  std::uint64_t bytes;
};

/// Uses the half step of `other`, or one for common values. Tokens make a large radius free.
LorenzoParams lorenzo_like(const MultilevelParams& other, const Background& background,
                           const Dims& dims) {
  LorenzoParams params = LorenzoParams::draft({}, dims.as_3d());
  params.half_step = half_step_for_grid(background, other.half_step);
  params.radius = other.radius;
  return params;
}

/// Takes lattice, reach and level-wise bounds of `chosen`; `dims` are the frame's.
MultilevelParams with_choices(MultilevelParams params, const MultilevelParams& chosen,
                              const Dims& dims) {
  params.lattice = Lattice::of(dims, chosen.lattice.merged, chosen.lattice.roles);
  params.reach = chosen.reach;
  params.alpha = chosen.alpha;
  params.beta = chosen.beta;
  return params;
}

SampledCost cost_of_errors(const MultilevelParams& params, std::span<const ClassErrors> errors,
                           const Dims& dims) {
  return {sampled_cost(params, make_schedule(params.lattice), errors), dims.squeezed()};
}

struct Chosen {
  MultilevelParams params;  ///< of the frame
  std::uint64_t bytes;      ///< of the part
  std::optional<SampledCost> cost;
};

/// Search among the candidates for a frame.
class Choice {
 public:
  Choice(const MultilevelParams& params, const Freedom& free, const Dims& dims,
         const std::optional<LorenzoParams>& lorenzo_candidate, FrameTrials& trials)
      : params_(params),
        free_(free),
        dims_(dims),
        lorenzo_candidate_(lorenzo_candidate),
        measured_(trials) {}

  Trial by_sampled_costs() {
    find_finalists();
    return {finalists_.front().params, expected_bytes(finalists_.front())};
  }

  /// Sampled costs choose reaches, and mostly level-wise bounds; the best candidates are coded.
  Trial by_trials() {
    find_finalists();
    if (takes_many_bits(dense_bits)) measured_.go_to(part_of(dims_.squeezed(), 2));
    std::vector<MultilevelParams> finalists;
    for (const Finalist& finalist : finalists_) finalists.push_back(finalist.params);
    if (needs_no_trial()) return {finalists.front(), expected_bytes(finalists_.front())};
    measured_.prefetch_trials(in_part(with_other_bounds(finalists)), lorenzo_candidate_);
    return with_better_bounds(cheapest(finalists));
  }

  Chosen in_frame(const Trial& trial) const {
    Chosen chosen{with_choices(params_, trial.params, dims_), trial.bytes, {}};
    if (const Finalist* const same = finalist_like(trial.params)) {
      chosen.cost = cost_of_errors(chosen.params, same->errors, dims_);
    }
    return chosen;
  }

 private:
  struct Ranked {
    Cost cost;
    bool bounds_decided;  ///< whether sampled costs decide on equal level-wise bounds
    std::size_t candidate = 0;
  };

  /// The best candidate for its roles of axes.
  struct Finalist {
    MultilevelParams params;  ///< of the frame
    Ranked rank;
    std::vector<ClassErrors> errors;
  };

  /// Transfers parameters to the part.
  std::vector<MultilevelParams> in_part(std::vector<MultilevelParams> all) const {
    for (MultilevelParams& params : all) {
      params.lattice = measured_.part().lattice_like(params.lattice);
    }
    return all;
  }

  /// Share of the part in a frame's cost, in bytes.
  std::uint64_t in_part(Cost of_frame) const {
    return (of_frame >> cost_bits) * measured_.part().points() / dims_.count() / 8;
  }

  /// By sampled costs.
  bool takes_many_bits(Cost of_value) const {
    return finalists_.front().rank.cost >= dims_.count() * of_value;
  }

  std::vector<int> reaches() const {
    if (!free_.reach) return {params_.reach};
    if (boxes_are_shallow_) return {all_reaches.back()};
    return {all_reaches.begin(), all_reaches.end()};
  }

  /// In large frames, layers take hardly more bytes than independent slices even for unrelated
  /// images, and sampled costs underestimate the latter.
  std::vector<Axes> axes() const {
    const int rank = dims_.squeezed().rank();
    std::vector<Axes> all = axes_to_try(rank);
    if (boxes_are_shallow_ && rank == 3) {
      std::erase_if(all, [](const Axes& axes) {
        return std::find(axes.roles.begin(), axes.roles.end(), AxisRole::independent) !=
               axes.roles.end();
      });
    }
    return all;
  }

  /// Adds what with_better_bounds() may try.
  std::vector<MultilevelParams> with_other_bounds(std::vector<MultilevelParams> all) const {
    for (std::size_t i = all.size(); i-- > 0;) {
      if (is_final(all[i])) continue;
      const bool has_usual = has_bounds(all[i], usual_bounds);
      if (has_usual && !bounds_decided(all[i])) all.push_back(with_bounds(all[i], equal_bounds));
      all.push_back(with_bounds(all[i], middle_bounds));
    }
    return all;
  }

  static bool have_same_roles(const MultilevelParams& a, const MultilevelParams& b) {
    return a.lattice.merged == b.lattice.merged && a.lattice.roles == b.lattice.roles;
  }

  /// Null if roles were not estimated.
  const Finalist* finalist_like(const MultilevelParams& params) const {
    const auto found = std::find_if(
        finalists_.begin(), finalists_.end(),
        [&](const Finalist& finalist) { return have_same_roles(finalist.params, params); });
    return found == finalists_.end() ? nullptr : &*found;
  }

  bool bounds_decided(const MultilevelParams& params) const {
    return finalist_like(params)->rank.bounds_decided;
  }

  /// No other level-wise bounds need a trial.
  bool is_final(const MultilevelParams& params) const {
    return !free_.bounds || boxes_are_shallow_ ||
           (!has_bounds(params, usual_bounds) && bounds_decided(params));
  }

  /// A single finalist without competitors, or with a clearly more expensive Lorenzo.
  bool needs_no_trial() const {
    if (finalists_.size() != 1 || !is_final(finalists_.front().params)) return false;
    if (!lorenzo_candidate_) return true;
    const std::uint64_t expected = expected_bytes(finalists_.front());
    const std::uint64_t more = takes_many_bits(enough_bits) ? surely_more_if_dense : surely_more;
    return measured_.cost(*lorenzo_candidate_) > expected + expected / more;
  }

  /// In the part.
  std::uint64_t expected_bytes(const Finalist& finalist) const {
    return in_part(finalist.rank.cost);
  }

  std::vector<MultilevelParams> candidates() const {
    const Axes own{params_.lattice.merged, params_.lattice.roles};
    std::vector<MultilevelParams> all;
    for (const Axes& axes : free_.axes ? this->axes() : std::vector{own}) {
      for (const int reach : reaches()) {
        all.push_back(params_);
        all.back().lattice = Lattice::of(dims_, axes.merged, axes.roles);
        all.back().reach = reach;
      }
    }
    return all;
  }

  /// Sets equal level-wise bounds in `params` if they cost less. Below `many_bits`, contexts and
  /// runs of zeros decide instead.
  /// zeros decide.
  Ranked ranked(MultilevelParams& params, std::span<const ClassErrors> errors) const {
    const Schedule schedule = make_schedule(params.lattice);
    const Cost usual = sampled_cost(params, schedule, errors);
    if (!free_.bounds || !has_bounds(params, usual_bounds)) return {usual, true};
    if (boxes_are_shallow_ && usual < dims_.count() * few_bits) set_bounds(params, middle_bounds);
    const MultilevelParams equal = with_bounds(params, equal_bounds);
    const Cost with_equal = sampled_cost(equal, schedule, errors);
    if (with_equal >= usual || usual < dims_.count() * many_bits) {
      return {usual, with_equal > usual + usual / clearly_dearer};
    }
    params = equal;
    return {with_equal, usual >= dims_.count() * enough_bits};
  }

  /// Tries other level-wise bounds if sampled costs are not certain.
  Trial with_better_bounds(Trial best) {
    if (is_final(best.params)) return best;
    const Trial middle = cheapest({with_bounds(best.params, middle_bounds)});
    if (has_bounds(best.params, usual_bounds) && !bounds_decided(best.params)) {
      Trial equal = cheapest({with_bounds(best.params, equal_bounds)});
      if (equal.bytes < best.bytes) best = std::move(equal);
    }
    return middle.bytes < best.bytes ? middle : best;
  }

  /// In the part; the earlier wins ties.
  Trial cheapest(const std::vector<MultilevelParams>& candidates) {
    const std::vector<std::uint64_t> bytes = measured_.costs(in_part(candidates));
    const auto least = std::min_element(bytes.begin(), bytes.end());
    return {candidates[static_cast<std::size_t>(least - bytes.begin())], *least};
  }

  /// Best candidates by sampled cost, one per choice of roles; all for small frames. Cheapest
  /// first, the earlier on ties.
  void find_finalists() {
    std::vector<MultilevelParams> candidates = this->candidates();
    auto errors = measured_.sampled_errors(candidates);
    std::vector<Ranked> ranked(candidates.size());
    measured_.for_each(ranked.size(), [&](std::size_t i) {
      ranked[i] = this->ranked(candidates[i], errors[i]);
      ranked[i].candidate = i;
    });
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
    const Cost lowest = ranked.front().cost;
    const Cost margin = boxes_are_shallow_
                            ? lowest / shallow_margin
                            : margin_above(lowest, dims_.count(), measured_.part().all());
    for (const Ranked& rank : ranked) {
      const bool is_worse = finalists_.size() == most_finalists || rank.cost - lowest > margin;
      if (is_worse && dims_.count() > few_values) break;
      MultilevelParams& params = candidates[rank.candidate];
      if (finalist_like(params) != nullptr) continue;
      finalists_.push_back({std::move(params), rank, std::move(errors[rank.candidate])});
    }
  }

  const MultilevelParams& params_;
  Freedom free_;
  const Dims& dims_;
  /// See shallow_margin.
  bool boxes_are_shallow_ = dims_.count() >= vast_frame && dims_.squeezed().rank() >= 3;
  const std::optional<LorenzoParams>& lorenzo_candidate_;
  FrameTrials& measured_;
  std::vector<Finalist> finalists_;
};

/// nullopt if nothing is open.
std::optional<Chosen> choose_by_trials(const MultilevelParams& params,
                                       const MultilevelConfig& config, const EffortPolicy& effort,
                                       const Dims& dims,
                                       const std::optional<LorenzoParams>& lorenzo_candidate,
                                       FrameTrials& trials) {
  const Freedom free{!config.axes && !config.roles, !config.reach, !config.alpha && !config.beta};
  const bool nothing_is_free = !free.axes && !free.reach && !free.bounds;
  if (nothing_is_free) return std::nullopt;
  Choice choice(params, free, dims, lorenzo_candidate, trials);
  return choice.in_frame(effort.codes_trials ? choice.by_trials() : choice.by_sampled_costs());
}

/// Similar costs per point.
bool is_alike(const SampledCost& cost, const SampledCost& first) {
  const Cost here = cost.cost / cost.dims.count();
  const Cost there = first.cost / first.dims.count();
  return std::max(here, there) <= 2 * std::min(here, there);
}

/// The first frame's choice, if costs are similar. Not for Lorenzo, which is rare and may be wrong
/// for other frames.
std::optional<ChosenMethod> choose_as(const ChosenMethod& first, const Method& draft,
                                      const Dims& dims, FrameTrials& trials) {
  const auto* const chosen = std::get_if<MultilevelParams>(&first.method.predictor);
  if (chosen == nullptr || !first.cost || first.cost->dims.rank() != dims.squeezed().rank()) {
    return std::nullopt;
  }
  MultilevelParams params =
      with_choices(std::get<MultilevelParams>(draft.predictor), *chosen, dims);
  const auto errors = trials.sampled_errors(std::span(&params, 1));
  const SampledCost cost = cost_of_errors(params, errors.front(), dims);
  if (!is_alike(cost, *first.cost)) return std::nullopt;
  return ChosenMethod{{params, draft.coder}, cost};
}

}  // namespace

TrialPart trial_part(const Dims& dims) { return part_of(dims.squeezed(), 1); }

ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const FrameShape& shape, double bound, const ChosenMethod* first) {
  if (auto* const cells = std::get_if<CellsParams>(&method.predictor)) {
    cells->learn(session.sample_of_cells(), bound, shape.dtype);
    const std::vector<std::uint64_t> points = points_for_tile_rank(shape.extents());
    const FieldScan& scan = session.scan();
    if (!points.empty()) {
      cells->rank = choose_tile_rank({shape.extents(), cells->half_step, scan.min, scan.max},
                                     session.values_at(points));
    }
  }
  auto* const params = std::get_if<MultilevelParams>(&method.predictor);
  if (params == nullptr) return {std::move(method), {}};
  const Dims& dims = shape.dims;
  const Background background = find_background(session.sampled_values(), bound, shape.dtype);
  const EffortPolicy effort =
      policy_of(config.predictor.multilevel.effort, background.has_few_values);
  set_background(background, *params);
  FrameTrials trials(session, config, trial_part(dims), bound);
  if (first != nullptr && effort.follows_first) {
    if (auto as_first = choose_as(*first, method, dims, trials)) {
      session.fit(as_first->method.predictor);
      return *std::move(as_first);
    }
  }
  std::optional<LorenzoParams> lorenzo_candidate;
  if (config.predictor.automatic && effort.tries_lorenzo) {
    lorenzo_candidate = lorenzo_like(*params, background, dims);
  }
  std::optional<SampledCost> cost;
  if (auto chosen = choose_by_trials(*params, config.predictor.multilevel, effort, dims,
                                     lorenzo_candidate, trials)) {
    const bool is_telling = trials.part().all() || chosen->bytes >= least_bytes;
    if (lorenzo_candidate && is_telling) {
      if (trials.cost(*lorenzo_candidate) < chosen->bytes) {
        return {{*lorenzo_candidate, method.coder}, {}};
      }
    }
    *params = std::move(chosen->params);
    cost = chosen->cost;
  }
  session.fit(method.predictor);
  return {std::move(method), cost};
}

}  // namespace cuszi
