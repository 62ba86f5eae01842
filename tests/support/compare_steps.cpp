#include "tests/support/compare_steps.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/base/lossless.hpp"
#include "core/choices/trials.hpp"
#include "core/tuning/sampled_cost.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

void compare_scans(const FieldScan& expected, const FieldScan& made) {
  REQUIRE(made.min == expected.min);
  REQUIRE(made.max == expected.max);
  REQUIRE(made.missing == expected.missing);
  FieldScan a = expected;
  FieldScan b = made;
  REQUIRE(b.errors.counts() == a.errors.counts());
  REQUIRE(b.splines.profiled == a.splines.profiled);
  REQUIRE(b.splines.sum == a.splines.sum);
}

void compare_looks(EncodeSession& expected, EncodeSession& made, const FrameShape& shape) {
  compare_scans(expected.scan(), made.scan());
  REQUIRE((made.mask() == expected.mask()));
  std::vector<std::uint64_t> points;
  for (std::uint64_t k = 0; k < 100; ++k) points.push_back(sample_point(k, shape.points()));
  const auto picked = expected.values_at(points);
  const auto picked_made = made.values_at(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool both_nan = picked[i] != picked[i] && picked_made[i] != picked_made[i];
    REQUIRE((both_nan || picked_made[i] == picked[i]));
  }
  REQUIRE(made.sampled_values() == expected.sampled_values());
  const std::vector<double> sampled = expected.sampled_values();
  REQUIRE(std::is_sorted(sampled.begin(), sampled.end()));
  for (const double value : {expected.scan().min, -0.0, 12345.678}) {
    const std::uint64_t bits = bits_of(value, shape.dtype);
    REQUIRE(made.count_bits(bits) == expected.count_bits(bits));
  }
}

/// A bound for the frame, the method that is then to be chosen from, and smaller bounds of blocks.
struct Start {
  double bound;
  Method method;
  double largest;                            ///< of the bounds; `bound` is a typical one
  std::shared_ptr<const LocalBounds> local;  ///< if not all are alike
};

/// The bound of the frame's points, or of its blocks where the task has places. Both sessions keep
/// what then has to come back exactly.
BoundPlan plan_of(EncodeSession& expected, EncodeSession& made, const FrameTask& task,
                  double bound) {
  const auto asked = task.asked();
  if (!asked || !(bound > 0)) return {bound, bound, {}, {}};
  BoundPlan plan = plan_bounds(*asked, bound, expected.scan(), task.shape, half_step_for);
  if (plan.bound > 0 && !plan.kept.empty()) {
    expected.keep_points(plan.kept);
    made.keep_points(plan.kept);
    compare_looks(expected, made, task.shape);
  }
  return plan;
}

/// Nothing if the frame cannot be quantised.
std::optional<Start> start_of(EncodeSession& session, EncodeSession& made, const FrameTask& task) {
  const double range = session.scan().max - session.scan().min;
  BoundPlan plan = plan_of(session, made, task,
                           task.mode == ErrorMode::relative ? task.bound * range : task.bound);
  const FieldScan& scan = session.scan();
  const double bound = plan.typical;
  if (!(plan.bound > 0 && range > 0 && std::isfinite(range)) ||
      scan.missing == task.shape.points()) {
    return std::nullopt;
  }
  Method method{draft_predictor(task.config, task.shape.dims), task.config.coder};
  const bool usable = std::visit(
      [&](auto& p) {
        p.choose(task.config.predictor, scan, bound, task.shape.dtype);
        return p.is_usable(task.shape.dtype);
      },
      method.predictor);
  if (!usable) return std::nullopt;
  Start start{bound, std::move(method), plan.bound, nullptr};
  if (plan.local) start.local = std::make_shared<const LocalBounds>(*std::move(plan.local));
  return start;
}

FrameCoding coding_of(EncodeSession& session, const FrameTask& task, Start start) {
  const Method method =
      choose_method(session, std::move(start.method), task.config, task.shape, start.bound).method;
  const CoderParams coder = coder_params(method.coder, task.config, centre_of(method.predictor));
  const Tolerance tolerance{start.largest,
                            bound_over_half_step_of(method.predictor, task.config.predictor)};
  FrameCoding coding{method.predictor, tolerance, coder, task.config.huffman, start.local};
  if (start.local != nullptr) {
    const FieldScan& scan = session.scan();
    auto& params = std::get<MultilevelParams>(coding.predictor);
    params.half_step = half_step_for(start.largest, scan.min, scan.max, task.shape.dtype);
    params.snap = 0;
    params.background = 0;
    params.split_contexts = true;
  }
  return coding;
}

void compare_sampled_errors(TrialSession& expected, TrialSession& made,
                            std::span<const MultilevelParams> candidates) {
  const auto loops = expected.sampled_errors(candidates);
  const auto loops_made = made.sampled_errors(candidates);
  REQUIRE(loops_made.size() == loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    REQUIRE(loops_made[i].size() == loops[i].size());
    for (std::size_t c = 0; c < loops[i].size(); ++c) {
      INFO("candidate " << i << ", class " << c << " of " << loops[i].size());
      const ClassErrors& a = loops[i][c];
      const ClassErrors& b = loops_made[i][c];
      REQUIRE(b.coefficients == a.coefficients);
      REQUIRE(b.noise_gain == a.noise_gain);
      for (std::size_t k = 0; k < a.errors.size(); ++k) {
        REQUIRE(b.errors[k].count == a.errors[k].count);
        REQUIRE(b.errors[k].size == a.errors[k].size);
      }
    }
  }
}

/// What `multilevel` is chosen by: sampled costs, what trials cost, and fits.
void compare_choices(EncodeSession& expected, EncodeSession& made, const FrameTask& task,
                     const Start& start) {
  const auto* const params = std::get_if<MultilevelParams>(&start.method.predictor);
  if (params == nullptr) return;
  const TrialPart part = trial_part(task.shape.dims);
  const auto trials = expected.trials(part);
  const auto trials_made = made.trials(part);
  std::vector<MultilevelParams> candidates(3, *params);
  candidates[1].reach = 5;
  candidates[2].reach = 7;
  compare_sampled_errors(*trials, *trials_made, candidates);

  MultilevelParams in_part = *params;
  in_part.lattice = part.lattice_like(params->lattice);
  LorenzoParams lorenzo = LorenzoParams::draft({}, part.dims().as_3d());
  lorenzo.half_step = params->half_step;
  lorenzo.radius = params->radius;
  const HuffmanTuning tuning{};
  const std::vector<FrameCoding> codings{
      {in_part, {start.bound}, AnsParams{in_part.radius}, tuning},
      {lorenzo, {start.bound}, AnsParams{lorenzo.radius}, tuning},
      {lorenzo,
       {start.bound},
       coder_params(CoderId::huffman, task.config, lorenzo.radius),
       tuning}};
  REQUIRE(trials_made->costs(codings) == trials->costs(codings));

  PredictorParams fitted = *params;
  PredictorParams fitted_made = *params;
  expected.fit(fitted);
  made.fit(fitted_made);
  REQUIRE(std::get<MultilevelParams>(fitted_made).coefficients ==
          std::get<MultilevelParams>(fitted).coefficients);
}

std::vector<CodedPass> code(EncodeSession& session, const FrameCoding& coding) {
  const auto passes = static_cast<int>(level_of_pass(coding.predictor).size());
  const auto encoder = session.passes(coding);
  const int step = coding.predicts_by_contexts() ? 1 : passes;
  for (int first = 0; first < passes; first += step) {
    encoder->predict({first, first + step});
    if (uses_contexts(coding.coder)) encoder->fit_contexts({first, first + step});
  }
  encoder->encode();
  return encoder->finish();
}

std::vector<std::byte> host_copy(Backend& backend, Bytes bytes) {
  std::vector<std::byte> host(bytes.size());
  backend.copy(bytes, host);
  return host;
}

/// The sections of passes, in host memory.
struct KeptSection {
  std::size_t pass;
  SectionId id;
  std::vector<std::byte> bytes;
};

std::vector<KeptSection> compare_passes(Backend& expected, std::span<const CodedPass> passes,
                                        Backend& made, std::span<const CodedPass> passes_made) {
  std::vector<KeptSection> kept;
  REQUIRE(passes_made.size() == passes.size());
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    REQUIRE(passes_made[pass].counts.outliers == passes[pass].counts.outliers);
    REQUIRE(passes_made[pass].counts.patches == passes[pass].counts.patches);
    const auto& sections = passes[pass].sections.list();
    const auto& sections_made = passes_made[pass].sections.list();
    REQUIRE(sections_made.size() == sections.size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
      INFO("pass " << pass << ", section " << name_of(sections[i].id));
      REQUIRE(sections_made[i].id == sections[i].id);
      kept.push_back({pass, sections[i].id, host_copy(expected, sections[i].bytes)});
      REQUIRE(host_copy(made, sections_made[i].bytes) == kept.back().bytes);
    }
  }
  return kept;
}

std::vector<std::byte> restore(Backend& backend, const FrameShape& shape, const FrameCoding& coding,
                               const FieldScan& scan, const FrameMask& mask,
                               std::span<const KeptSection> kept) {
  std::vector<std::byte> payload;
  for (const KeptSection& section : kept) {
    payload.insert(payload.end(), section.bytes.begin(), section.bytes.end());
  }
  const auto session = backend.decode(payload);
  std::vector<Sections> passes(level_of_pass(coding.predictor).size());
  Bytes rest = session->payload();
  for (const KeptSection& section : kept) {
    passes[section.pass].add(section.id, rest.first(section.bytes.size()));
    rest = rest.subspan(section.bytes.size());
  }
  std::vector<std::byte> values(shape.bytes());
  const FrameTarget target{shape,  scan.min, scan.max,           mask,
                           values, nullptr,  coding.local.get(), {shape.dims}};
  const auto decoder = session->passes(target, coding.predictor, coding.coder);
  const std::vector<int> pass_levels = level_of_pass(coding.predictor);
  const auto shapes = pass_shapes(coding.predictor, shape.points());
  decoder->decode(coded_levels(pass_levels, shapes, passes));
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const auto pass = static_cast<int>(i);
    if (uses_contexts(coding.coder)) decoder->contexts(pass, passes[i]);
    decoder->place(pass);
    decoder->reconstruct(pass, passes[i]);
  }
  decoder->finish();
  return values;
}

}  // namespace

void compare_steps(Backend& expected, Backend& made, const FrameTask& task, Bytes values) {
  const PredictorParams draft = draft_predictor(task.config, task.shape.dims);
  const ValueRules rules{task.fills, task.config.isovalues};
  auto session = expected.encode(task.shape, values, rules, draft, {});
  auto session_made = made.encode(task.shape, values, rules, draft, {});
  compare_looks(*session, *session_made, task.shape);
  const auto start = start_of(*session, *session_made, task);
  if (!start) return;
  compare_choices(*session, *session_made, task, *start);
  const FrameCoding coding = coding_of(*session, task, *start);
  const auto kept =
      compare_passes(expected, code(*session, coding), made, code(*session_made, coding));
  const FieldScan scan = session->scan();
  const FrameMask mask = session->mask();
  session.reset();
  session_made.reset();
  REQUIRE(restore(made, task.shape, coding, scan, mask, kept) ==
          restore(expected, task.shape, coding, scan, mask, kept));
}

}  // namespace cuszi::test
