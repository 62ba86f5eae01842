#include "core/trials.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/open_loop.hpp"
#include "core/rest.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t usual_box = std::uint64_t{1} << 19;
constexpr std::uint64_t best_box = std::uint64_t{1} << 21;
constexpr std::size_t most_finalists = 2;
constexpr std::uint64_t few_values = std::uint64_t{1} << 17;  ///< so few are quickly coded anew
constexpr std::uint64_t least_saving = 128;     ///< one in so many bytes, by bounds half way
constexpr std::uint64_t hardly_more = 64;       ///< one in so many bytes, by equal bounds
constexpr std::uint64_t better_fit_saves = 24;  ///< one in so many bytes of a trial
constexpr std::uint64_t least_bytes = 1024;  ///< what a quiet box costs says nothing of the field
constexpr Cost clearly_dearer = 64;          ///< by one in so many bits
constexpr Cost bit = Cost{1} << cost_bits;
constexpr Cost many_bits = 3 * bit / 2;  ///< a value: open loops tell whether equal bounds pay
constexpr Cost enough_bits = 2 * bit;    ///< and are sure of it

/// What costs so much more than the lowest by open loops is not coded to compare. Where a value
/// takes few bits, contexts and runs of zeros decide, of which open loops know nothing; to try more
/// in a part of the frame takes less than coding the frame.
Cost margin_above(Cost lowest, std::uint64_t values, bool is_whole) {
  const Cost margin = std::min(lowest / 6, values * bit / 12);
  return is_whole ? margin : std::max(margin, lowest / 16);
}

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
constexpr LevelBounds usual_bounds{80, 128};
constexpr LevelBounds middle_bounds{72, 96};
constexpr LevelBounds equal_bounds{64, 64};

const std::vector<LevelBounds> all_bounds{usual_bounds, equal_bounds, {96, 192}, middle_bounds,
                                          {112, 250},   {80, 96},     {96, 128}};

bool has_bounds(const MultilevelParams& params, LevelBounds bounds) {
  return params.alpha == bounds.alpha && params.beta == bounds.beta;
}

bool set_bounds(MultilevelParams& params, LevelBounds bounds) {
  const bool changes = !has_bounds(params, bounds);
  params.alpha = bounds.alpha;
  params.beta = bounds.beta;
  return changes;
}

MultilevelParams with_bounds(MultilevelParams params, LevelBounds bounds) {
  set_bounds(params, bounds);
  return params;
}

const std::vector<int> all_reaches{3, 5, 7};

/// What the user has left open.
struct Freedom {
  bool axes;
  bool reach;
  bool bounds;
};

/// Parameters for the trial box, and what they cost.
struct Trial {
  MultilevelParams params;
  std::uint64_t bytes;
};

/// What coding the box takes with each of these parameters.
using TrialCosts =
    std::function<std::vector<std::uint64_t>(std::span<const MultilevelParams> candidates)>;

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
  params.half_step = half_step_for_grid(rest, other.half_step);
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

/// These parameters, with the choices of others, for an array of these dims.
MultilevelParams with_choices(MultilevelParams params, const MultilevelParams& chosen,
                              const Dims& dims) {
  params.lattice = Lattice::of(dims, chosen.lattice.merged, chosen.lattice.roles);
  params.reach = chosen.reach;
  params.alpha = chosen.alpha;
  params.beta = chosen.beta;
  return params;
}

/// The same for a trial box, with coefficients of open loops over the frame.
MultilevelParams in_box(MultilevelParams params, const Dims& box,
                        std::span<const ClassErrors> loops) {
  const Lattice lattice = Lattice::of(box, params.lattice.merged, params.lattice.roles);
  params.coefficients = coefficients_for(lattice, params, loops);
  params.lattice = lattice;
  return params;
}

/// Along such an axis there is nothing to fit, so that a fit to more points saves less.
bool has_independent_axis(const MultilevelParams& params) {
  const Roles& roles = params.lattice.roles;
  return std::find(roles.begin(), roles.end(), AxisRole::independent) != roles.end();
}

/// What trials of this frame measure.
class FrameTrials {
 public:
  FrameTrials(EncodeSession& session, const FrameConfig& config, const Selection& box, double bound)
      : session_(session), config_(config), box_(box), bound_(bound) {}

  std::vector<std::vector<ClassErrors>> open_loops(std::span<const MultilevelParams> candidates) {
    return trials().open_loops(candidates);
  }

  /// See TrialSession.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
    trials().for_each(count, each);
  }

  /// What they would take, about, with fits as of the frame.
  std::vector<std::uint64_t> costs(std::span<const MultilevelParams> candidates) {
    std::vector<std::uint64_t> bytes = costs(codings_of(candidates));
    for (std::size_t i = 0; i < bytes.size() && box_.points() > few_values; ++i) {
      if (!has_independent_axis(candidates[i])) bytes[i] -= bytes[i] / better_fit_saves;
    }
    return bytes;
  }

  /// Has these tried along, and the coders after `lorenzo`, if the backend tries so many at once.
  void foresee(std::span<const MultilevelParams> candidates,
               const std::optional<LorenzoParams>& lorenzo) {
    std::vector<FrameCoding> codings = codings_of(candidates);
    if (lorenzo) {
      for (const FrameCoding& coding : codings_of(*lorenzo)) codings.push_back(coding);
    }
    if (codings.size() <= trials().side_by_side()) costs(codings);
  }

  /// See TrialSession.
  void expect(const MultilevelParams& likely) { trials().expect(likely); }

  struct CoderCost {
    CoderId coder;
    std::uint64_t bytes;
  };

  /// The best coder after this predictor; the earlier one on ties.
  CoderCost best_coder(const LorenzoParams& params) {
    const std::vector<std::uint64_t> bytes = costs(codings_of(params));
    const auto best = std::min_element(bytes.begin(), bytes.end());
    return {coders_to_try(config_).at(static_cast<std::size_t>(best - bytes.begin())), *best};
  }

 private:
  /// A coding that has been tried.
  struct Known {
    FrameCoding coding;
    std::uint64_t bytes;

    /// Everything else is the frame's.
    bool is(const FrameCoding& other) const {
      return coding.predictor == other.predictor && coding.coder.index() == other.coder.index();
    }
  };

  std::vector<FrameCoding> codings_of(std::span<const MultilevelParams> candidates) const {
    std::vector<FrameCoding> codings;
    for (const MultilevelParams& params : candidates) {
      codings.push_back(
          {params, {bound_, config_.predictor.multilevel.slack}, AnsParams{params.radius}, {}});
    }
    return codings;
  }

  std::vector<FrameCoding> codings_of(const LorenzoParams& params) const {
    std::vector<FrameCoding> codings;
    for (const CoderId coder : coders_to_try(config_)) {
      codings.push_back({params, {bound_}, coding(coder, params), {}});
    }
    return codings;
  }

  std::vector<std::uint64_t> costs(const std::vector<FrameCoding>& codings) {
    const auto find = [&](const FrameCoding& coding) {
      return std::find_if(known_.begin(), known_.end(),
                          [&](const Known& known) { return known.is(coding); });
    };
    std::vector<FrameCoding> unknown;
    std::copy_if(codings.begin(), codings.end(), std::back_inserter(unknown),
                 [&](const FrameCoding& coding) { return find(coding) == known_.end(); });
    if (!unknown.empty()) {
      const std::vector<std::uint64_t> bytes = trials().costs(unknown);
      for (std::size_t i = 0; i < unknown.size(); ++i) known_.push_back({unknown[i], bytes.at(i)});
    }
    std::vector<std::uint64_t> all;
    all.reserve(codings.size());
    for (const FrameCoding& coding : codings) all.push_back(find(coding)->bytes);
    return all;
  }

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
  std::vector<Known> known_;
};

/// How a frame is to be coded, as far as trials have found out.
class Choice {
 public:
  /// `rival`, if there is one, will be tried too.
  Choice(const MultilevelParams& params, const Freedom& free, Effort effort, const Dims& dims,
         const Dims& box, const std::optional<LorenzoParams>& rival, FrameTrials& trials)
      : params_(params),
        free_(free),
        effort_(effort),
        dims_(dims),
        box_(box),
        rival_(rival),
        measured_(trials) {}

  /// Every candidate in turn is coded: axis roles, then reach (for the two best choices of roles,
  /// since what the runner-up's axes lose at a short reach, they may win back at a longer one),
  /// then level-wise bounds.
  Trial by_full_trials() {
    MultilevelParams start = params_;
    start.lattice = Lattice::of(box_, params_.lattice.merged, params_.lattice.roles);
    start.coefficients.clear();
    trials_.add(std::vector{start});
    if (free_.axes) {
      trials_.vary(1, axes(), [&](MultilevelParams& p, const Axes& axes) {
        if (p.lattice.merged == axes.merged && p.lattice.roles == axes.roles) return false;
        p.lattice = Lattice::of(box_, axes.merged, axes.roles);
        return true;
      });
    }
    if (free_.reach) {
      trials_.vary(2, all_reaches, [](MultilevelParams& p, int reach) {
        return std::exchange(p.reach, reach) != reach;
      });
    }
    if (free_.bounds) trials_.vary(1, all_bounds, set_bounds);
    return trials_.best();
  }

  /// Open loops choose the reach of all choices of roles, and mostly whether their level-wise
  /// bounds are equal; the best of these are coded. The best one is coded again with equal bounds,
  /// as far as that is not settled, and, unless these win, with those half way. The box tells of
  /// such small changes only about, and bounds that are not as tight leave more of a mean error: so
  /// these have to save a little. Where equal bounds cost hardly more, those half way mostly save
  /// that, and are taken unseen.
  Trial by_open_loops() {
    const std::vector<MultilevelParams> finalists = this->finalists();
    if (likely_) measured_.expect(*likely_);
    measured_.foresee(with_other_bounds(finalists), rival_);
    trials_.add(finalists);
    Trial best = trials_.best();
    const bool is_settled = this->is_settled(best.params);
    const bool has_usual = has_bounds(best.params, usual_bounds);
    if (!free_.bounds || (!has_usual && is_settled)) return best;
    if (has_usual && !is_settled) {
      Trial equal = tried(with_bounds(best.params, equal_bounds));
      if (equal.bytes < best.bytes) return equal;
      if (equal.bytes - best.bytes <= best.bytes / hardly_more) {
        return {with_bounds(best.params, middle_bounds), best.bytes};
      }
    }
    const Trial middle = tried(with_bounds(best.params, middle_bounds));
    const std::uint64_t least = has_usual ? best.bytes / least_saving : 0;
    return middle.bytes + least < best.bytes ? middle : best;
  }

  /// The frame's parameters, with the choices of those of a box.
  MultilevelParams in_frame(const MultilevelParams& chosen) const {
    return with_choices(params_, chosen, dims_);
  }

 private:
  struct Ranked {
    Cost cost;
    bool is_settled;  ///< open loops tell whether equal level-wise bounds pay
    Cost with_equal;  ///< the cost with these
    std::size_t candidate = 0;
  };

  Trial tried(MultilevelParams params) {
    const std::uint64_t bytes = measured_.costs(std::span(&params, 1)).front();
    return {std::move(params), bytes};
  }

  std::vector<Axes> axes() const { return axes_to_try(dims_.squeezed().rank(), effort_); }

  /// These and what by_open_loops() may try in their place.
  std::vector<MultilevelParams> with_other_bounds(std::vector<MultilevelParams> all) const {
    for (std::size_t i = all.size(); i-- > 0 && free_.bounds;) {
      const bool has_usual = has_bounds(all[i], usual_bounds);
      const bool is_settled = this->is_settled(all[i]);
      if (has_usual && !is_settled) all.push_back(with_bounds(all[i], equal_bounds));
      if (has_usual || !is_settled) all.push_back(with_bounds(all[i], middle_bounds));
    }
    return all;
  }

  static bool have_same_roles(const MultilevelParams& a, const MultilevelParams& b) {
    return a.lattice.merged == b.lattice.merged && a.lattice.roles == b.lattice.roles;
  }

  bool is_settled(const MultilevelParams& finalist) const {
    return std::any_of(settled_.begin(), settled_.end(), [&](const MultilevelParams& other) {
      return have_same_roles(finalist, other);
    });
  }

  /// All choices of roles and reach for the frame.
  std::vector<MultilevelParams> candidates() const {
    const Axes own{params_.lattice.merged, params_.lattice.roles};
    std::vector<MultilevelParams> all;
    for (const Axes& axes : free_.axes ? this->axes() : std::vector{own}) {
      for (const int reach : free_.reach ? all_reaches : std::vector{params_.reach}) {
        all.push_back(params_);
        all.back().lattice = Lattice::of(dims_, axes.merged, axes.roles);
        all.back().reach = reach;
      }
    }
    return all;
  }

  /// What a candidate costs by open loops. It gets equal level-wise bounds where these cost less
  /// and a value takes so many bits that contexts and runs of zeros save few of them.
  Ranked ranked(MultilevelParams& params, std::span<const ClassErrors> loops) const {
    const Schedule schedule = make_schedule(params.lattice);
    const Cost usual = open_loop_cost(params, schedule, loops);
    if (!free_.bounds || !has_bounds(params, usual_bounds)) return {usual, true, usual};
    const MultilevelParams equal = with_bounds(params, equal_bounds);
    const Cost with_equal = open_loop_cost(equal, schedule, loops);
    if (with_equal >= usual || usual < dims_.count() * many_bits) {
      return {usual, with_equal > usual + usual / clearly_dearer, with_equal};
    }
    params = equal;
    return {with_equal, usual >= dims_.count() * enough_bits, with_equal};
  }

  /// The bounds that trials will mostly choose where open loops cost this, if that can be told: the
  /// usual ones where these cost less, equal ones where codes are not few.
  std::optional<LevelBounds> likely_bounds(const MultilevelParams& params,
                                           const Ranked& rank) const {
    constexpr Cost few = 9 * bit / 10;
    if (!free_.bounds || !has_bounds(params, usual_bounds)) {
      return LevelBounds{params.alpha, params.beta};
    }
    if (rank.cost <= rank.with_equal) return usual_bounds;
    return rank.cost < dims_.count() * few ? std::nullopt : std::optional(equal_bounds);
  }

  /// What trials will mostly choose for the frame if this is the first of the finalists.
  std::optional<MultilevelParams> likely(const MultilevelParams& params, const Ranked& rank) const {
    const auto bounds = likely_bounds(params, rank);
    if (!bounds) return std::nullopt;
    return with_bounds(in_frame(params), *bounds);
  }

  /// The best by open loops for each of the best choices of roles, or, if values are few, of all;
  /// the cheapest first, on ties the earlier.
  std::vector<MultilevelParams> finalists() {
    std::vector<MultilevelParams> candidates = this->candidates();
    const auto loops = measured_.open_loops(candidates);
    std::vector<Ranked> ranked(candidates.size());
    measured_.for_each(ranked.size(), [&](std::size_t i) {
      ranked[i] = this->ranked(candidates[i], loops[i]);
      ranked[i].candidate = i;
    });
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
    const Cost lowest = ranked.front().cost;
    const Cost margin = margin_above(lowest, dims_.count(), box_.count() == dims_.count());
    std::vector<std::size_t> best;  // candidates
    for (const Ranked& rank : ranked) {
      const bool is_worse = best.size() == most_finalists || rank.cost - lowest > margin;
      if (is_worse && dims_.count() > few_values) break;
      const MultilevelParams& params = candidates[rank.candidate];
      const auto has_its_roles = [&](auto i) { return have_same_roles(params, candidates[i]); };
      if (std::any_of(best.begin(), best.end(), has_its_roles)) continue;
      if (best.empty()) likely_ = likely(params, rank);
      if (rank.is_settled) settled_.push_back(params);
      best.push_back(rank.candidate);
    }
    std::vector<MultilevelParams> finalists(best.size());
    measured_.for_each(best.size(), [&](std::size_t i) {
      finalists[i] = in_box(candidates[best[i]], box_, loops[best[i]]);
    });
    return finalists;
  }

  const MultilevelParams& params_;
  Freedom free_;
  Effort effort_;
  const Dims& dims_;
  const Dims& box_;
  const std::optional<LorenzoParams>& rival_;
  FrameTrials& measured_;
  std::optional<MultilevelParams> likely_;
  std::vector<MultilevelParams> settled_;  ///< finalists of which open loops tell their bounds
  TrialCosts costs_ = [this](std::span<const MultilevelParams> candidates) {
    return measured_.costs(candidates);
  };
  Trials trials_{costs_};
};

/// Chooses what is left open of `params`, whose lattice is that of the frame. Returns what they
/// take in the trial box; nothing if nothing was tried.
std::optional<TrialCost> choose_by_trials(MultilevelParams& params, const MultilevelConfig& config,
                                          const Dims& dims, const Dims& box,
                                          const std::optional<LorenzoParams>& rival,
                                          FrameTrials& trials) {
  const Freedom free{!config.axes && !config.roles && box.rank() == dims.squeezed().rank(),
                     !config.reach, !config.alpha && !config.beta};
  const bool nothing_is_free = !free.axes && !free.reach && !free.bounds;
  if (config.effort == Effort::fast || nothing_is_free) return std::nullopt;
  Choice choice(params, free, config.effort, dims, box, rival, trials);
  const Trial best =
      config.effort == Effort::best ? choice.by_full_trials() : choice.by_open_loops();
  params = choice.in_frame(best.params);
  return TrialCost{best.bytes, box};
}

/// Whether the boxes of two frames take about as much a point, so that what is best for the one
/// will do for the other.
bool is_alike(const TrialCost& cost, const TrialCost& first) {
  const std::uint64_t here = cost.bytes * first.box.count();
  const std::uint64_t there = first.bytes * cost.box.count();
  return std::max(here, there) <= 2 * std::min(here, there);
}

/// What was chosen for the first frame of the field, if it takes about as much here. Where that was
/// Lorenzo, which is rare and may well be wrong for other frames, trials are made again.
std::optional<ChosenMethod> choose_as(const ChosenMethod& first, const Method& draft,
                                      const Dims& dims, const Dims& box, FrameTrials& trials) {
  const auto* const chosen = std::get_if<MultilevelParams>(&first.method.predictor);
  if (chosen == nullptr || !first.cost || first.cost->box.rank() != box.rank()) {
    return std::nullopt;
  }
  const MultilevelParams params =
      with_choices(std::get<MultilevelParams>(draft.predictor), *chosen, dims);
  const auto loops = trials.open_loops(std::span(&params, 1));
  trials.expect(params);
  const MultilevelParams part = in_box(params, box, loops.front());
  const TrialCost cost{trials.costs(std::span(&part, 1)).front(), box};
  if (!is_alike(cost, *first.cost)) return std::nullopt;
  return ChosenMethod{{params, draft.coder}, cost};
}

}  // namespace

Selection trial_box(const Dims& dims, Effort effort) {
  const Dims squeezed = dims.squeezed();
  return box_of(squeezed, effort == Effort::best ? best_box : usual_box);
}

ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const Dims& dims, double bound, const ChosenMethod* first) {
  auto* const params = std::get_if<MultilevelParams>(&method.predictor);
  if (params == nullptr) return {std::move(method), {}};
  const Effort effort = config.predictor.multilevel.effort;
  const Selection selected = trial_box(dims, effort);
  const Dims box = selected.dims();
  const Rest rest = find_rest(session.sampled_values(), bound);
  rest_at(rest, *params);
  FrameTrials trials(session, config, selected, bound);
  if (first != nullptr && effort == Effort::normal) {
    if (auto as_first = choose_as(*first, method, dims, box, trials)) {
      session.fit(as_first->method.predictor);
      return *std::move(as_first);
    }
  }
  std::optional<LorenzoParams> rival;
  if (config.predictor.automatic && effort != Effort::fast) {
    rival = lorenzo_like(*params, rest, box);
  }
  const auto cost =
      choose_by_trials(*params, config.predictor.multilevel, dims, box, rival, trials);
  if (rival && cost) {
    const auto [coder, bytes] = trials.best_coder(*rival);
    const bool is_telling = selected.all() || cost->bytes >= least_bytes;
    if (is_telling && bytes < cost->bytes) {
      return {{lorenzo_like(*params, rest, dims), coder}, TrialCost{bytes, box}};
    }
  }
  session.fit(method.predictor);
  return {std::move(method), cost};
}

}  // namespace cuszi
