#include "core/choices/trials.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/cells/slices.hpp"
#include "core/choices/background.hpp"
#include "core/choices/frame_trials.hpp"
#include "core/tuning/candidates.hpp"
#include "core/tuning/sampled_cost.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t usual_part = std::uint64_t{1} << 19;  ///< points
/// A frame of so many points is tried in several boxes, of 1 / boxes_in_frame of its points each.
constexpr std::uint64_t vast_frame = std::uint64_t{1} << 24;
constexpr std::uint64_t boxes_in_frame = 128;
constexpr std::uint64_t largest_box = std::uint64_t{1} << 18;
constexpr std::size_t most_finalists = 2;
constexpr Cost shallow_margin = 32;  ///< boxes that are shallow decide within 1 / this alone
/// Slices that are fields of their own cost about 1 / independent_misses more than samples tell.
constexpr Cost independent_misses = 8;
/// A single finalist is not tried where the Lorenzo predictor takes over 1 / surely_more more bytes
/// than the finalist is expected to take by sampled costs.
constexpr std::uint64_t surely_more = 4;
constexpr std::uint64_t surely_more_if_dense = 8;
/// Middle bounds are chosen over the usual ones if they save over 1 / least_saving of the bytes.
constexpr std::uint64_t least_saving = 128;
constexpr std::uint64_t least_bytes = 1024;  ///< what a quiet part costs says nothing of the field
/// Equal bounds are clearly worse if they add over 1 / clearly_dearer to the sampled cost.
constexpr Cost clearly_dearer = 64;
constexpr Cost bit = Cost{1} << cost_bits;
constexpr Cost many_bits = 3 * bit / 2;    ///< a value: sampled costs tell whether equal bounds pay
constexpr Cost enough_bits = 2 * bit;      ///< and are sure of it
constexpr Cost few_bits = bit / 24;        ///< a value: tight bounds of coarse levels do not pay
constexpr Cost dense_bits = 9 * bit / 10;  ///< a value: half as many of them tell as much

/// The part of a frame of squeezed dims, 1 / `share` of the points that usually tell enough.
TrialPart part_of(const Dims& dims, std::uint64_t share) {
  if (dims.count() < vast_frame) return TrialPart::of(dims, usual_part / share, 1);
  const std::uint64_t box = std::min(std::bit_floor(dims.count() / boxes_in_frame), largest_box);
  return TrialPart::of(dims, box / share, TrialPart::most_boxes);
}

/// The margin above the lowest sampled cost beyond which a candidate is not coded for comparison.
/// Where a value takes few bits, contexts and runs of zeros decide, which sampled costs do not
/// model. A trial in a part of the frame takes less time than coding the frame, so that its margin
/// is wider.
Cost margin_above(Cost lowest, std::uint64_t values, bool is_whole) {
  const Cost margin = std::min(lowest / 6, values * bit / 12);
  return is_whole ? margin : std::max(margin, lowest / 16);
}

/// Whether an axis is independent that need not be.
bool is_independent(const MultilevelParams& params) {
  const Roles& roles = params.lattice.roles;
  return std::find(roles.begin() + 1, roles.end(), AxisRole::independent) != roles.end();
}

/// What the user has left open.
struct Freedom {
  bool axes;
  bool reach;
  bool bounds;
};

/// Parameters of the frame, and what they take in its part.
struct Trial {
  MultilevelParams params;
  std::uint64_t bytes;
};

/// The Lorenzo predictor with the step of `other`, or one that a common value is a multiple of;
/// tokens make a large radius free.
LorenzoParams lorenzo_like(const MultilevelParams& other, const Background& background,
                           const Dims& dims) {
  LorenzoParams params = LorenzoParams::draft({}, dims.as_3d());
  params.half_step = half_step_for_grid(background, other.half_step);
  params.radius = other.radius;
  return params;
}

/// `params` with the choices of `chosen` (lattice, reach, level-wise bounds), for an array of
/// extents `dims`.
MultilevelParams with_choices(MultilevelParams params, const MultilevelParams& chosen,
                              const Dims& dims) {
  params.lattice = Lattice::of(dims, chosen.lattice.merged, chosen.lattice.roles);
  params.reach = chosen.reach;
  params.alpha = chosen.alpha;
  params.beta = chosen.beta;
  return params;
}

SampledCost cost_by_loops(const MultilevelParams& params, std::span<const ClassErrors> loops,
                          const Dims& dims) {
  return {sampled_cost(params, make_schedule(params.lattice), loops), dims.squeezed()};
}

/// What trials have found out.
struct Chosen {
  MultilevelParams params;  ///< of the frame
  std::uint64_t bytes;      ///< that they take in the box
  std::optional<SampledCost> cost;
};

/// How a frame is to be coded, as far as trials have found out.
class Choice {
 public:
  /// `lorenzo_candidate`, if there is one, will be tried too.
  Choice(const MultilevelParams& params, const Freedom& free, const Dims& dims,
         const std::optional<LorenzoParams>& lorenzo_candidate, FrameTrials& trials)
      : params_(params),
        free_(free),
        dims_(dims),
        lorenzo_candidate_(lorenzo_candidate),
        measured_(trials) {}

  /// Sampled costs choose alone.
  Trial by_sampled_costs() {
    find_finalists();
    return {finalists_.front().params, expected_bytes(finalists_.front())};
  }

  /// Sampled costs choose the reach of all choices of roles, and mostly their level-wise bounds;
  /// the best of these are coded.
  Trial by_trials() {
    find_finalists();
    if (takes_many_bits(dense_bits)) measured_.go_to(part_of(dims_.squeezed(), 2));
    std::vector<MultilevelParams> finalists;
    for (const Finalist& finalist : finalists_) finalists.push_back(finalist.params);
    if (needs_no_trial()) return {finalists.front(), expected_bytes(finalists_.front())};
    measured_.prefetch_trials(in_part(with_other_bounds(finalists)), lorenzo_candidate_);
    return with_better_bounds(cheapest(finalists));
  }

  /// A trial's choices for the frame.
  Chosen in_frame(const Trial& trial) const {
    Chosen chosen{with_choices(params_, trial.params, dims_), trial.bytes, {}};
    if (const Finalist* const same = finalist_like(trial.params)) {
      chosen.cost = cost_by_loops(chosen.params, same->loops, dims_);
    }
    return chosen;
  }

 private:
  struct Ranked {
    Cost cost;
    bool bounds_decided;  ///< sampled costs tell whether equal level-wise bounds pay
    Cost with_equal;      ///< the cost with these
    std::size_t candidate = 0;
  };

  /// The best by sampled costs for its roles of axes.
  struct Finalist {
    MultilevelParams params;  ///< of the frame
    Ranked rank;
    std::vector<ClassErrors> loops;
  };

  /// Parameters of the frame, transferred to its part.
  std::vector<MultilevelParams> in_part(std::vector<MultilevelParams> all) const {
    for (MultilevelParams& params : all) {
      params.lattice = measured_.part().lattice_like(params.lattice);
    }
    return all;
  }

  /// What part of the frame's cost its part has, in bytes.
  std::uint64_t in_part(Cost of_frame) const {
    return (of_frame >> cost_bits) * measured_.part().points() / dims_.count() / 8;
  }

  /// Whether the frame costs at least so much a value by sampled costs.
  bool takes_many_bits(Cost of_value) const {
    return finalists_.front().rank.cost >= dims_.count() * of_value;
  }

  std::vector<int> reaches() const {
    if (!free_.reach) return {params_.reach};
    if (boxes_are_shallow_) return {all_reaches.back()};
    return {all_reaches.begin(), all_reaches.end()};
  }

  /// Of vast frames layers take hardly more bytes than independent slices even where these are
  /// unrelated images, and sampled costs find independent ones too cheap.
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

  /// These and what with_better_bounds() may try in their place.
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

  /// The finalist with the roles of these parameters; none if sampled costs were not made for them.
  const Finalist* finalist_like(const MultilevelParams& params) const {
    const auto found = std::find_if(
        finalists_.begin(), finalists_.end(),
        [&](const Finalist& finalist) { return have_same_roles(finalist.params, params); });
    return found == finalists_.end() ? nullptr : &*found;
  }

  bool bounds_decided(const MultilevelParams& params) const {
    return finalist_like(params)->rank.bounds_decided;
  }

  /// Whether no other level-wise bounds are to be tried in place of these.
  bool is_final(const MultilevelParams& params) const {
    return !free_.bounds || boxes_are_shallow_ ||
           (!has_bounds(params, usual_bounds) && bounds_decided(params));
  }

  /// Whether there is nothing to compare the only finalist with, or the lorenzo_candidate is so
  /// much dearer than it is by sampled costs that nobody needs to know what it takes.
  bool needs_no_trial() const {
    if (finalists_.size() != 1 || !is_final(finalists_.front().params)) return false;
    if (!lorenzo_candidate_) return true;
    const std::uint64_t expected = expected_bytes(finalists_.front());
    const std::uint64_t more = takes_many_bits(enough_bits) ? surely_more_if_dense : surely_more;
    return measured_.best_coder(*lorenzo_candidate_, expected).bytes > expected + expected / more;
  }

  /// What the box takes by sampled costs over the frame.
  std::uint64_t expected_bytes(const Finalist& finalist) const {
    return in_part(finalist.rank.cost);
  }

  /// All choices of roles and reach for the frame.
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

  /// Ranks a candidate by its sampled cost. Sets equal level-wise bounds in `params` where these
  /// cost less and the bits per value are at least `many_bits`: below that, contexts and runs of
  /// zeros decide.
  Ranked ranked(MultilevelParams& params, std::span<const ClassErrors> loops) const {
    const Schedule schedule = make_schedule(params.lattice);
    const Cost usual = sampled_cost(params, schedule, loops);
    if (!free_.bounds || !has_bounds(params, usual_bounds)) return {usual, true, usual};
    if (boxes_are_shallow_ && usual < dims_.count() * few_bits) set_bounds(params, middle_bounds);
    const MultilevelParams equal = with_bounds(params, equal_bounds);
    const Cost with_equal = sampled_cost(equal, schedule, loops);
    if (with_equal >= usual || usual < dims_.count() * many_bits) {
      return {usual, with_equal > usual + usual / clearly_dearer, with_equal};
    }
    params = equal;
    return {with_equal, usual >= dims_.count() * enough_bits, with_equal};
  }

  /// The best trial, or one with other level-wise bounds, where sampled costs are not sure of
  /// these. A part tells of such small changes only about, and bounds that are not as tight leave
  /// more of a mean error: so those half way have to save a little over the usual ones.
  Trial with_better_bounds(Trial best) {
    if (is_final(best.params)) return best;
    const Trial middle = cheapest({with_bounds(best.params, middle_bounds)});
    if (has_bounds(best.params, usual_bounds) && !bounds_decided(best.params)) {
      Trial equal = cheapest({with_bounds(best.params, equal_bounds)});
      if (equal.bytes < best.bytes) best = std::move(equal);
    }
    const bool has_usual = has_bounds(best.params, usual_bounds);
    const std::uint64_t least = has_usual ? best.bytes / least_saving : 0;
    return middle.bytes + least < best.bytes ? middle : best;
  }

  /// The cheapest of these in the part of the frame, on ties the earlier.
  Trial cheapest(const std::vector<MultilevelParams>& candidates) {
    const std::vector<std::uint64_t> bytes = measured_.costs(in_part(candidates));
    const auto least = std::min_element(bytes.begin(), bytes.end());
    return {candidates[static_cast<std::size_t>(least - bytes.begin())], *least};
  }

  /// The best by sampled costs for each of the best choices of roles, or, if values are few, of
  /// all; the cheapest first, on ties the earlier.
  void find_finalists() {
    std::vector<MultilevelParams> candidates = this->candidates();
    auto loops = measured_.sampled_errors(candidates);
    std::vector<Ranked> ranked(candidates.size());
    measured_.for_each(ranked.size(), [&](std::size_t i) {
      ranked[i] = this->ranked(candidates[i], loops[i]);
      ranked[i].candidate = i;
      if (is_independent(candidates[i])) ranked[i].cost += ranked[i].cost / independent_misses;
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
      finalists_.push_back({std::move(params), rank, std::move(loops[rank.candidate])});
    }
  }

  const MultilevelParams& params_;
  Freedom free_;
  const Dims& dims_;
  /// Boxes of three axes have few levels, and their coarse ones are not like those of a vast frame:
  /// samples of all of it tell more.
  bool boxes_are_shallow_ = dims_.count() >= vast_frame && dims_.squeezed().rank() >= 3;
  const std::optional<LorenzoParams>& lorenzo_candidate_;
  FrameTrials& measured_;
  std::vector<Finalist> finalists_;
};

/// Chooses what is left open of `params`, whose lattice is that of the frame; nothing if nothing
/// is.
std::optional<Chosen> choose_by_trials(const MultilevelParams& params,
                                       const MultilevelConfig& config, Effort effort,
                                       const Dims& dims,
                                       const std::optional<LorenzoParams>& lorenzo_candidate,
                                       FrameTrials& trials) {
  const Freedom free{!config.axes && !config.roles, !config.reach, !config.alpha && !config.beta};
  const bool nothing_is_free = !free.axes && !free.reach && !free.bounds;
  if (nothing_is_free) return std::nullopt;
  Choice choice(params, free, dims, lorenzo_candidate, trials);
  return choice.in_frame(effort == Effort::fast ? choice.by_sampled_costs() : choice.by_trials());
}

/// Whether two frames cost about as much a point, so that what is best for the one will do for the
/// other.
bool is_alike(const SampledCost& cost, const SampledCost& first) {
  const Cost here = cost.cost / cost.dims.count();
  const Cost there = first.cost / first.dims.count();
  return std::max(here, there) <= 2 * std::min(here, there);
}

/// What was chosen for the first frame of the field, if that costs about as much here. Where that
/// was Lorenzo, which is rare and may well be wrong for other frames, trials are made again.
std::optional<ChosenMethod> choose_as(const ChosenMethod& first, const Method& draft,
                                      const Dims& dims, FrameTrials& trials) {
  const auto* const chosen = std::get_if<MultilevelParams>(&first.method.predictor);
  if (chosen == nullptr || !first.cost || first.cost->dims.rank() != dims.squeezed().rank()) {
    return std::nullopt;
  }
  MultilevelParams params =
      with_choices(std::get<MultilevelParams>(draft.predictor), *chosen, dims);
  const auto loops = trials.sampled_errors(std::span(&params, 1));
  const SampledCost cost = cost_by_loops(params, loops.front(), dims);
  if (!is_alike(cost, *first.cost)) return std::nullopt;
  return ChosenMethod{{params, draft.coder}, cost};
}

}  // namespace

TrialPart trial_part(const Dims& dims) { return part_of(dims.squeezed(), 1); }

ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const FrameShape& shape, double bound, const ChosenMethod* first) {
  if (auto* const cells = std::get_if<CellsParams>(&method.predictor)) {
    cells->background = common_value(session.sampled_values());
    const FieldScan& scan = session.scan();
    cells->rank = choose_tile_rank(
        {shape.extents(), cells->half_step, scan.min, scan.max,
         [&](std::span<const std::uint64_t> points) { return session.values_at(points); }});
  }
  auto* const params = std::get_if<MultilevelParams>(&method.predictor);
  if (params == nullptr) return {std::move(method), {}};
  const Dims& dims = shape.dims;
  const Background background = find_background(session.sampled_values(), bound, shape.dtype);
  Effort effort = config.predictor.multilevel.effort;
  // Areas of one value each have edges that sampled costs misjudge, and Lorenzo often suits.
  if (effort == Effort::fast && background.has_few_values) effort = Effort::normal;
  set_background(background, *params);
  FrameTrials trials(session, config, trial_part(dims), bound);
  if (first != nullptr && effort == Effort::normal) {
    if (auto as_first = choose_as(*first, method, dims, trials)) {
      session.fit(as_first->method.predictor);
      return *std::move(as_first);
    }
  }
  std::optional<LorenzoParams> lorenzo_candidate;
  if (config.predictor.automatic && effort != Effort::fast) {
    lorenzo_candidate = lorenzo_like(*params, background, dims);
  }
  std::optional<SampledCost> cost;
  if (auto chosen = choose_by_trials(*params, config.predictor.multilevel, effort, dims,
                                     lorenzo_candidate, trials)) {
    const bool is_telling = trials.part().all() || chosen->bytes >= least_bytes;
    if (lorenzo_candidate && is_telling) {
      const auto [coder, bytes] = trials.best_coder(*lorenzo_candidate, chosen->bytes);
      if (bytes < chosen->bytes) return {{*lorenzo_candidate, coder}, {}};
    }
    *params = std::move(chosen->params);
    cost = chosen->cost;
  }
  session.fit(method.predictor);
  return {std::move(method), cost};
}

}  // namespace cuszi
