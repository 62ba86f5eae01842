#include <algorithm>
#include <optional>

#include "core/base/floating_point.hpp"
#include "core/base/lossless.hpp"
#include "core/choices/background.hpp"
#include "core/choices/trials.hpp"
#include "core/field/stored_type.hpp"
#include "core/pipeline/coded_frame.hpp"
#include "core/pipeline/frame_check.hpp"
#include "core/pipeline/kept_values.hpp"
#include "core/pipeline/pipeline.hpp"
#include "core/tiles/tile_words.hpp"

namespace cuszi {

namespace {

/// A frame with all that the steps of its compression share.
struct EncodeWork {
  Backend& backend;
  const FrameConfig& config;
  LoadedFrame& frame;
  const FrameDestination& to;
  StepTimes& times;
};

/// A relative bound may be smaller than the rounding of the range; then the frame is lossless.
bool can_be_coded(const EncodeWork& work, double bound) {
  const FieldScan& scan = work.frame.scan();
  return (bound > 0 || work.config.predictor.is_reversible()) &&
         has_codable_range(scan.min, scan.max) && scan.missing < work.frame.shape.points();
}

FrameHeader frame_header(const EncodeWork& work, FrameKind kind) {
  const LoadedFrame& frame = work.frame;
  FrameHeader header;
  header.index = work.to.index;
  header.kind = kind;
  const FieldScan& scan = frame.transform ? frame.transform->own
                          : frame.bounds  ? frame.bounds->own
                                          : frame.scan();
  header.missing = scan.missing;
  header.min = scan.min;
  header.max = scan.max;
  return header;
}

/// The sections' bytes if they lie one after the other, as gather() puts them.
std::optional<Bytes> in_place(std::span<const Sections> passes) {
  Bytes all;
  for (const Sections& sections : passes) {
    for (const Section& section : sections.list()) {
      const Bytes bytes = section.bytes;
      if (bytes.empty()) continue;
      if (!all.empty() && all.data() + all.size() != bytes.data()) return std::nullopt;
      all = Bytes(all.empty() ? bytes.data() : all.data(), all.size() + bytes.size());
    }
  }
  return all;
}

/// Concatenates the passes after the header, hashes the levels, and completes the header. Throws
/// InternalError if a reader would refuse it.
void write_frame(const EncodeWork& work, std::span<const Sections> passes, FrameHeader& header) {
  Backend& backend = work.backend;
  const std::vector<std::byte> draft = write_frame_header(header);
  const MutableBytes bytes = work.to.allocate(draft.size() + header.payload_bytes());
  const MutableBytes payload = bytes.subspan(draft.size());
  const auto levels_of = [&](Bytes all) { return cut_levels(header, header.levels.size(), all); };
  PendingHashes pending;  // of the sections where they are, with the copy or beside it, if possible
  const auto all = in_place(passes);
  if (all) pending = backend.start_hashed_copy(levels_of(*all), payload);
  if (!pending) {
    if (all) pending = backend.start_hashes(levels_of(*all));
    backend.gather(passes, payload);
  }
  const std::vector<Bytes> levels = levels_of(payload);
  if (!pending) pending = backend.start_hashes(levels);
  check_frame(backend, work.frame.stored_shape(), draft, passes);
  const std::vector<std::uint64_t> hashes = pending ? pending() : backend.hashes(levels);
  for (std::size_t i = 0; i < hashes.size(); ++i) header.levels[i].hash = hashes[i];
  backend.copy(write_frame_header(header), bytes.first(draft.size()));
}

/// Empty without missing points.
EncodedMask code_mask(const EncodeWork& work) {
  const LoadedFrame& frame = work.frame;
  if (frame.scan().missing == 0) return {};
  return work.times.measure("mask", [&] {
    return encode_mask(frame.session->mask(), frame.shape.dtype, host_work_of(work.backend));
  });
}

void add_mask(const EncodedMask& mask, Sections& out) {
  if (mask.bits.empty()) return;
  out.add(SectionId::mask_bits, mask.bits);
  out.add(SectionId::mask_values, mask.values);
}

/// Empty if all signs are equal, or the transform or predictor stores them.
Bytes code_signs(const EncodeWork& work) {
  const LoadedFrame& frame = work.frame;
  if (!frame.transform || has_signs(frame.transform->transform.params)) return {};
  if (is_by_tiles(frame.transform->transform.params, frame.draft)) return {};
  const FieldScan& own = frame.transform->own;
  if (own.min >= 0 || own.max <= 0) return {};
  return work.times.measure("signs", [&] { return frame.session->encode_signs(); });
}

/// Empty without local bounds.
std::vector<std::byte> code_bounds(const EncodeWork& work) {
  const auto& bounds = work.frame.bounds;
  if (!bounds || bounds->local == nullptr) return {};
  return work.times.measure("bounds", [&] { return bounds->local->encode(); });
}

/// Sections before the first pass.
struct PointSections {
  EncodedMask mask;
  Bytes signs;
  std::vector<std::byte> bounds;

  ByteCount size() const {
    return mask.bits.size() + mask.values.size() + signs.size() + bounds.size();
  }
  void add_to(Sections& out) const {
    add_mask(mask, out);
    if (!signs.empty()) out.add(SectionId::signs, signs);
    if (!bounds.empty()) out.add(SectionId::bounds, bounds);
  }
};

FrameReport keep_frame(const EncodeWork& work, Bytes values, const KeptValues& kept) {
  FrameReport result;
  result.header = frame_header(work, kept.kind);
  const Sections sections = kept.sections(values);
  result.header.levels.push_back(level_entry(std::span(&sections, 1)));
  write_frame(work, std::span(&sections, 1), result.header);
  return result;
}

KeptValues kept_values(const EncodeWork& work) {
  const LoadedFrame& frame = work.frame;
  return work.times.measure("pack", [&] {
    return keep_values(work.backend, *frame.session, frame.stored_shape(), frame.values.bytes());
  });
}

/// Whether tiles code the frame if it has to be without loss.
bool has_words(const EncodeWork& work) {
  return std::holds_alternative<TilesParams>(work.frame.draft) &&
         work.config.lossless == Lossless::none && has_tile_words(work.frame.stored);
}

std::optional<CodedPass> code_words(const EncodeWork& work) {
  return work.times.measure("encode", [&] { return work.frame.session->encode_words(); });
}

/// Stores the values if they are not larger, or there are no words.
FrameReport write_words(const EncodeWork& work, const std::optional<CodedPass>& words) {
  FrameReport result;
  result.header = frame_header(work, FrameKind::tiled);
  std::span<const Sections> sections;
  if (words) sections = {&words->sections, 1};
  result.header.levels.push_back(level_entry(sections));
  return work.times.measure("gather", [&] {
    if (!words || frame_bytes(result.header) >= work.frame.most_bytes)
      return keep_frame(work, work.frame.values.bytes(), KeptValues{});
    write_frame(work, sections, result.header);
    return result;
  });
}

/// 64-bit integers are quantised as such.
FrameReport keep_wide_integers(const EncodeWork& work, const ValueBound& bound) {
  const LoadedFrame& frame = work.frame;
  const Bytes original = frame.values.bytes();
  std::vector<std::byte> values(original.size());
  work.backend.copy(original, values);
  const bool is_one = !bound.goes_with_values() && !frame.asked;
  const std::uint64_t step =
      is_one ? quantise_wide(frame.stored, bound.bound, frame.fills, values) : 1;
  return keep_frame(work, values,
                    keep_values(work.backend, *frame.session, frame.stored_shape(), values, step));
}

/// Bits of the only value; nullopt if there are several.
std::optional<std::uint64_t> only_bits(const LoadedFrame& frame) {
  const FieldScan& scan = frame.scan();
  const DType dtype = frame.shape.dtype;
  const std::uint64_t zero = bits_of(0.0, dtype);
  if (scan.missing == frame.shape.points()) return zero;
  if (scan.min != scan.max) return std::nullopt;
  if (scan.min != 0) return bits_of(scan.min, dtype);
  // The scan does not tell -0 from 0.
  const std::uint64_t negative_zero = bits_of(-0.0, dtype);
  if (frame.session->count_bits(negative_zero) == 0) return zero;
  if (frame.session->count_bits(zero) == 0) return negative_zero;
  return std::nullopt;
}

/// nullopt if there are several values, or it does not pay.
std::optional<FrameReport> code_constant_frame(const EncodeWork& work) {
  const LoadedFrame& frame = work.frame;
  const auto bits = work.times.measure("scan", [&] { return only_bits(frame); });
  if (!bits) return std::nullopt;
  const std::vector<std::byte> raw =
      encode_constant(*bits, frame.shape.dtype, least_payload_bytes(frame.stored_shape().bytes()));
  const EncodedMask mask = code_mask(work);
  Sections sections;
  add_mask(mask, sections);
  sections.add(SectionId::raw, raw);

  FrameReport result;
  result.header = frame_header(work, FrameKind::constant);
  result.header.levels.push_back(level_entry(std::span(&sections, 1)));
  if (frame_bytes(result.header) >= frame.stored_shape().bytes()) return std::nullopt;
  work.times.measure("gather", [&] { write_frame(work, std::span(&sections, 1), result.header); });
  return result;
}

/// Frees a large frame's values after prediction, if coding certainly pays.
void drop_values(const PassEncoder& encoder, const PointSections& points, LoadedFrame& frame) {
  constexpr ByteCount large = ByteCount{1} << 22;
  const ByteCount size = frame.most_bytes;
  const bool has_copies = frame.values.is_owner() || is_cast(frame.stored);
  if (!has_copies || size < large) return;
  const auto most = encoder.most_bytes();
  if (!most || *most + points.size() >= size) return;
  frame.session->drop_values();
  frame.values = {};
}

/// For predictors with quant-codes. May change `coding` to avoid bias.
std::vector<CodedPass> code_passes(const EncodeWork& work, FrameCoding& coding, int passes,
                                   const PointSections& points) {
  LoadedFrame& frame = work.frame;
  StepTimes& times = work.times;
  EncodeSession& session = *frame.session;
  std::unique_ptr<PassEncoder> encoder;
  if (coding.predicts_by_contexts()) {
    encoder = session.passes(coding);
    for (int pass = 0; pass < passes; ++pass) {
      times.measure("predict", [&] { encoder->predict({pass, pass + 1}); });
      if (!uses_contexts(coding.coder)) continue;
      times.measure("contexts", [&] { encoder->fit_contexts({pass, pass + 1}); });
    }
  } else {
    times.measure("predict", [&] {
      encoder = predict_unbiased(session, coding, {0, passes}, frame.shape);
    });
    times.tell(0.5);
    drop_values(*encoder, points, frame);
    if (uses_contexts(coding.coder)) {
      times.measure("contexts", [&] { encoder->fit_contexts({0, passes}); });
    }
  }
  times.tell(0.75);
  return times.measure("encode", [&] {
    encoder->encode();
    return encoder->finish();
  });
}

/// For predictors that code themselves.
std::vector<CodedPass> code_values(const EncodeWork& work, const FrameCoding& coding) {
  return work.times.measure("encode", [&] { return work.frame.session->encode_values(coding); });
}

std::vector<Sections> sections_of(const EncodeWork& work, const PointSections& points,
                                  std::span<const CodedPass> coded) {
  std::vector<Sections> passes(coded.size());
  points.add_to(passes.front());
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (const Section& section : coded[pass].sections.list()) passes[pass].add(section);
  }
  if (work.config.lossless == Lossless::bitcomp) {
    work.times.measure("pack", [&] {
      for (Sections& sections : passes) work.frame.session->pack(sections);
    });
  }
  return passes;
}

/// nullopt if the frame is not smaller than its values, which must still be there.
std::optional<FrameReport> write_coded_frame(const EncodeWork& work, const FrameCoding& coding,
                                             std::span<const CodedPass> coded,
                                             std::vector<Sections> passes) {
  const LoadedFrame& frame = work.frame;
  const std::vector<std::byte> padding(padding_bytes(passes, frame.stored_shape().bytes()));
  if (!padding.empty()) passes.back().add(SectionId::raw, padding);

  FrameReport result;
  result.header = frame_header(work, FrameKind::coded);
  result.header.predictor = coding.predictor;
  result.header.coder = coding.coder;
  if (frame.transform) result.header.transform = frame.transform->transform;
  if (frame.bounds) result.header.bounds = frame.bounds->bounds;
  result.header.levels = level_entries(level_of_pass(coding.predictor), passes);
  for (const CodedPass& pass : coded) {
    result.outliers += pass.counts.outliers;
    result.patches += pass.counts.patches;
  }
  if (!frame.values.bytes().empty() && frame_bytes(result.header) >= frame.most_bytes)
    return std::nullopt;
  work.times.measure("gather", [&] { write_frame(work, passes, result.header); });
  return result;
}

/// nullopt if too large.
std::optional<FrameReport> code_frame(const EncodeWork& work, FrameCoding coding) {
  const std::vector<int> pass_levels = level_of_pass(coding.predictor);
  const PointSections points{code_mask(work), code_signs(work), code_bounds(work)};
  const std::vector<CodedPass> coded =
      has_own_coder(id_of(coding.predictor))
          ? code_values(work, coding)
          : code_passes(work, coding, static_cast<int>(pass_levels.size()), points);
  if (coded.front().final_params) coding.predictor = *coded.front().final_params;
  return write_coded_frame(work, coding, coded, sections_of(work, points, coded));
}

FrameCoding coding_by(const FrameConfig& config, Method method, double bound) {
  const CoderParams coder = coder_params(method.coder, config, centre_of(method.predictor));
  const Tolerance tolerance{bound, bound_over_half_step_of(method.predictor, config.predictor)};
  return {std::move(method.predictor), tolerance, coder, config.huffman};
}

/// How half steps follow from local bounds.
HalfStepRule half_step_rule(const PredictorParams& draft) {
  return std::holds_alternative<CellsParams>(draft) ? cells_half_step : half_step_for;
}

/// Completes what was chosen for the typical bound of a frame's points. With smaller local bounds,
/// predictions of `multilevel` must not snap to a background.
void set_bounds(const LoadedFrame::Bounds& bounds, double half_step, FrameCoding& coding) {
  coding.local = bounds.local;
  if (auto* const cells = std::get_if<CellsParams>(&coding.predictor)) {
    cells->half_step = half_step;
    return;
  }
  auto& params = std::get<MultilevelParams>(coding.predictor);
  params.half_step = half_step;
  if (bounds.local == nullptr) return;
  params.snap = 0;
  params.background = 0;
  params.split_contexts = true;
}

/// Lays the only isovalue of a frame of tiles between two restored values. Zeros stay exact where
/// they are common: exact backgrounds matter more than the time and bytes of values that cross.
void part_at_isovalue(const LoadedFrame& frame, const IsoValues& isovalues, TilesParams& params) {
  constexpr std::ptrdiff_t common = 16;  // one of so many sampled values
  const FieldScan& scan = frame.scan();
  if (isovalues.count != 1 || frame.transform) return;
  const double isovalue = isovalues.values[0];
  if (isovalue < scan.min || isovalue > scan.max) return;
  const std::vector<double> sample = frame.session->sampled_values();
  const auto [first, last] = std::equal_range(sample.begin(), sample.end(), 0.0);
  params.part_at(isovalue, (last - first) * common >= std::ssize(sample));
}

/// nullopt if the frame cannot be coded.
std::optional<FrameCoding> choose_coding(const EncodeWork& work, double bound) {
  if (!can_be_coded(work, bound)) return std::nullopt;
  const FrameConfig& config = work.config;
  const LoadedFrame& frame = work.frame;
  const FrameAdvice& advice = work.to.advice;
  StepTimes& times = work.times;
  const double typical = frame.bounds ? frame.bounds->typical : bound;
  FieldScan scan = frame.scan();
  if (frame.transform) scan.sampled = frame.transform->sampled;
  auto predictor = predictor_for(frame.draft, config.predictor, scan, typical, frame.shape.dtype);
  if (!predictor) return std::nullopt;
  Method draft{*std::move(predictor), coder_for(id_of(frame.draft), config.coder)};
  const ChosenMethod* const first = advice.first ? advice.first() : nullptr;
  ChosenMethod chosen = times.measure("choose", [&] {
    return choose_method(*frame.session, std::move(draft), config, frame.shape, typical, first);
  });
  if (auto* const tiles = std::get_if<TilesParams>(&chosen.method.predictor)) {
    times.measure("choose", [&] { part_at_isovalue(frame, config.isovalues, *tiles); });
  }
  if (advice.tell) advice.tell(chosen);
  FrameCoding coding = coding_by(config, std::move(chosen.method), bound);
  if (frame.bounds) {
    const HalfStepRule half_step = half_step_rule(frame.draft);
    set_bounds(*frame.bounds, half_step(bound, scan.min, scan.max, frame.shape.dtype), coding);
  }
  return coding;
}

/// The coding of a frame that is only sampled; nullopt if the predictor cannot be used.
std::optional<FrameCoding> sampled_coding(const EncodeWork& work, double sampled, double bound) {
  const FrameConfig& config = work.config;
  const LoadedFrame& frame = work.frame;
  FieldScan sample;
  sample.sampled = sampled;
  auto predictor = predictor_for(frame.draft, config.predictor, sample, bound, frame.shape.dtype);
  if (!predictor) return std::nullopt;
  if (auto* const cells = std::get_if<CellsParams>(&*predictor))
    cells->learn(frame.session->sample_of_cells(), bound, frame.shape.dtype);
  const CoderId coder = coder_for(id_of(frame.draft), config.coder);
  return coding_by(config, {*std::move(predictor), coder}, bound);
}

/// Whether the predictor can be used for the frame's range, which coding has found.
bool is_usable_for_range(const EncodeWork& work, double bound) {
  const LoadedFrame& frame = work.frame;
  return can_be_coded(work, bound) &&
         predictor_for(frame.draft, work.config.predictor, frame.scan(), bound, frame.shape.dtype)
             .has_value();
}

/// Codes in the first pass over the values; nullopt if a scan is needed.
std::optional<FrameReport> code_unscanned_frame(const EncodeWork& work, double bound) {
  if (work.config.lossless != Lossless::none || bound <= 0) return std::nullopt;
  EncodeSession& session = *work.frame.session;
  const auto sampled = work.times.measure("scan", [&] { return session.sampled_magnitude(); });
  if (!sampled) return std::nullopt;
  const auto coding = sampled_coding(work, *sampled, bound);
  if (!coding) return std::nullopt;
  const auto coded = work.times.measure(
      "encode", [&] { return session.encode_unscanned(coding->predictor, bound); });
  if (coded.empty() || !is_usable_for_range(work, bound)) return std::nullopt;
  return write_coded_frame(work, *coding, coded, sections_of(work, {}, coded));
}

/// The same with logarithms.
std::optional<FrameReport> code_unscanned_logs(const EncodeWork& work, const ValueBound& bound) {
  LoadedFrame& frame = work.frame;
  if (work.config.lossless != Lossless::none || bound.kind != ValueBound::Kind::share ||
      !std::holds_alternative<TilesParams>(frame.draft)) {
    return std::nullopt;
  }
  EncodeSession& session = *frame.session;
  const TransformChoice choice = work.times.measure("scan", [&] {
    return choose_transform(bound, frame.shape.dtype, session.sampled_magnitudes(), true);
  });
  const auto coding = sampled_coding(work, choice.sampled, choice.bound);
  if (choice.bound == 0 || !coding) return std::nullopt;
  const auto coded = work.times.measure(
      "encode", [&] { return session.encode_logs_unscanned(coding->predictor, choice, bound); });
  if (!coded || !has_codable_range(coded->min, coded->max)) return std::nullopt;
  frame.transform =
      LoadedFrame::Transform{{choice.params, coded->min, coded->max}, coded->own, choice.sampled};
  auto written =
      write_coded_frame(work, *coding, std::span(&coded->pass, 1), {coded->pass.sections});
  if (!written) frame.transform.reset();
  return written;
}

/// Returns the bound of the transformed values; 0 if there is none.
double transform_frame(LoadedFrame& frame, const ValueBound& bound, StepTimes& times) {
  EncodeSession& session = *frame.session;
  return times.measure("transform", [&] {
    const TransformChoice choice =
        choose_transform(bound, frame.shape.dtype, session.sampled_magnitudes(),
                         std::holds_alternative<TilesParams>(frame.draft));
    if (choice.bound == 0) return 0.0;
    const FieldScan own = frame.scan();
    session.transform(choice, bound);
    const FieldScan& scan = frame.scan();
    frame.transform = LoadedFrame::Transform{
        {choice.params, scan.min, scan.max, scan.missing - own.missing}, own, choice.sampled};
    return choice.bound;
  });
}

/// Transforms the frame, unless an absolute bound suffices. Returns the bound to code with.
double bound_by_value(LoadedFrame& frame, const ValueBound& bound, StepTimes& times) {
  const FieldScan& scan = frame.scan();
  const ValueBound held = bound.within(scan.min, scan.max);
  return held.goes_with_values() ? transform_frame(frame, held, times) : held.bound;
}

/// Excludes points of bound 0. Returns the largest bound; 0 for a lossless frame.
double apply_bounds(LoadedFrame& frame, double bound, StepTimes& times) {
  return times.measure("bounds", [&] {
    const FieldScan own = frame.scan();
    BoundPlan plan =
        plan_bounds(*frame.asked, bound, own, frame.shape, half_step_rule(frame.draft));
    const bool is_alike = plan.bound == bound && !plan.local && plan.kept.empty();
    if (is_alike || plan.bound == 0) return plan.bound;
    if (!plan.kept.empty()) frame.session->keep_points(plan.kept);
    const double least = plan.local ? plan.local->bounds.back().bound : plan.bound;
    frame.bounds = LoadedFrame::Bounds{
        {plan.bound, least, frame.scan().missing - own.missing}, plan.typical, nullptr, own};
    if (plan.local) {
      frame.bounds->local = std::make_shared<const LocalBounds>(*std::move(plan.local));
    }
    return plan.bound;
  });
}

/// For the frame's work values. Converts its local bounds, too.
ValueBound bound_in_work(const ValueBound& bound, LoadedFrame& frame, StepTimes& times) {
  if (!is_cast(frame.stored)) return bound;
  return times.measure("bounds", [&] {
    if (!frame.asked) {
      return work_bound(frame.stored, bound, [&] { return frame.session->distinct_values(); });
    }
    to_work(frame.stored, *frame.asked);
    return ValueBound(work_bound(frame.stored, bound.bound));
  });
}

}  // namespace

const FieldScan& LoadedFrame::scan() const {
  const IeeeArithmetic arithmetic;
  return session->scan();
}

LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       FrameValues values, const FillValues& fills, StepTimes& times,
                       const std::optional<FieldScan>& known) {
  const IeeeArithmetic arithmetic;
  LoadedFrame frame{shape.work(), std::move(values), draft_predictor(config, shape.dims), {}};
  frame.stored = shape.dtype;
  frame.most_bytes = shape.bytes();
  frame.fills = fills;
  const ValueRules rules = work_rules(shape.dtype, {fills, config.isovalues});
  times.measure("load", [&] {
    frame.session = backend.encode(shape, frame.values.bytes(), rules, frame.draft, known);
  });
  return frame;
}

FrameReport compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                           const ValueBound& asked, const FrameDestination& to, StepTimes& times) {
  const IeeeArithmetic arithmetic;
  const EncodeWork work{backend, config, frame, to, times};
  const bool is_exact = !frame.asked && !asked.goes_with_values() &&
                        (is_integer(frame.stored) ? asked.bound < 1 : asked.bound == 0);
  if (is_exact && has_words(work)) {
    const auto words = code_words(work);  // before a scan, which may then be known
    if (auto constant = code_constant_frame(work)) return *std::move(constant);
    return write_words(work, words);
  }
  if (is_wide_integer(frame.stored)) return keep_wide_integers(work, asked);
  const ValueBound bound = bound_in_work(asked, frame, times);
  std::optional<KeptValues> kept;
  const bool is_whole = is_integer(frame.stored) && !asked.goes_with_values() && asked.bound < 1;
  const bool is_only_kept = is_exact && !is_cast(frame.stored) && !config.predictor.is_reversible();
  const bool is_on_device = backend.transfer() != nullptr;
  if (is_whole || (is_only_kept && is_on_device)) {  // there the scan is known, then
    kept = kept_values(work);
    frame.most_bytes = kept->bytes;
  }
  double step = bound.bound;
  if (!frame.asked) {
    auto coded = bound.goes_with_values() ? code_unscanned_logs(work, bound)
                                          : code_unscanned_frame(work, step);
    if (coded) return *std::move(coded);
  }
  if (auto constant = code_constant_frame(work)) return *std::move(constant);
  if (bound.goes_with_values()) {
    step = bound_by_value(frame, bound, times);
  } else if (frame.asked && step > 0) {
    step = apply_bounds(frame, step, times);
  }
  if (const auto coding = choose_coding(work, step)) {
    if (auto coded = code_frame(work, *coding)) return *std::move(coded);
  }
  if (has_words(work)) return write_words(work, code_words(work));
  if (!kept) kept = kept_values(work);
  return keep_frame(work, frame.values.bytes(), *kept);
}

CompressedFrame compress_frame(Backend& backend, const FrameConfig& config, LoadedFrame frame,
                               const ValueBound& bound, StepTimes& times) {
  CompressedFrame result;
  const FrameDestination to{[&](ByteCount size) {
    result.bytes.resize(size);
    return MutableBytes(result.bytes);
  }};
  static_cast<FrameReport&>(result) =
      compress_frame(backend, config, std::move(frame), bound, to, times);
  return result;
}

}  // namespace cuszi
