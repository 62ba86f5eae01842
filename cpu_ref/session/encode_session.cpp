#include <algorithm>

#include "core/base/growing_memory.hpp"
#include "core/base/radix_sort.hpp"
#include "core/multilevel/context.hpp"
#include "core/signs/signs.hpp"
#include "core/tuning/fit_sample.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/cells/cells.hpp"
#include "cpu_ref/coders/coder.hpp"
#include "cpu_ref/field/frame_work.hpp"
#include "cpu_ref/field/gaps.hpp"
#include "cpu_ref/field/scan.hpp"
#include "cpu_ref/interp/interp.hpp"
#include "cpu_ref/lorenzo/lorenzo.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "cpu_ref/session/sessions.hpp"
#include "cpu_ref/tiles/tile_words.hpp"
#include "cpu_ref/tiles/tiles.hpp"
#include "cpu_ref/transform/transform.hpp"
#include "cpu_ref/tuning/trials.hpp"
#include "cpu_ref/zfp/zfp_coding.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::ranges::copy(std::as_bytes(std::span(values)), bytes.begin());
  return bytes;
}

struct PassEncoderMemory {
  Workspace& workspace;
  SectionStore& store;
};

/// Codes and contexts follow those of earlier passes.
struct PassInWork {
  std::span<QuantCode> codes;        ///< of its points
  std::span<QuantCode> symbols;      ///< to be coded
  std::span<std::uint8_t> contexts;  ///< of points, later of symbols; empty: one context
  Gaps gaps;
  CodedPass result;
};

class CpuPassEncoder : public PassEncoder {
 public:
  CpuPassEncoder(const FrameCoding& coding, const PassEncoderMemory& memory)
      : coding_(coding),
        memory_(memory),
        levels_(passes_of_levels(level_of_pass(coding.predictor))),
        passes_(static_cast<std::size_t>(levels_.back().end)) {}

  void encode() override {
    for (const PassRange& level : levels_) encode_level(of_range(std::span(passes_), level), level);
  }

  std::vector<CodedPass> finish() override {
    std::vector<CodedPass> coded;
    for (PassInWork& pass : passes_) coded.push_back(std::move(pass.result));
    return coded;
  }

 protected:
  virtual PassShape shape_of_pass(int number) const = 0;

  ByteCount bytes_so_far() const {
    ByteCount bytes = 0;
    for (const PassInWork& pass : passes_) bytes += pass.result.sections.size();
    return bytes;
  }

  PassInWork& pass(int number) { return passes_.at(static_cast<std::size_t>(number)); }
  Workspace& workspace() { return memory_.workspace; }
  const FrameCoding& coding() const { return coding_; }

  void keep(SectionId id, std::vector<std::byte>&& bytes, PassInWork& pass) {
    memory_.store.keep(id, std::move(bytes), pass.result.sections);
  }

  /// Stores exceptions; removes codes of missing points.
  template <class T>
  void complete(PassInWork& pass, const Predicted<T>& predicted) {
    pass.result.counts = {predicted.outliers.size(), predicted.patches.size()};
    keep(SectionId::anchors, to_bytes(predicted.anchors), pass);
    keep(SectionId::outliers, SparseList::encode(predicted.outliers, pass.codes.size()), pass);
    keep(SectionId::patches, SparseList::encode(predicted.patches, pass.codes.size()), pass);
    pass.symbols = pass.gaps.close(pass.codes);
  }

 private:
  void encode_level(std::span<PassInWork> passes, const PassRange& range) {
    std::vector<PassCodes> level;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      level.push_back({passes[i].symbols, passes[i].contexts,
                       shape_of_pass(range.first + static_cast<int>(i))});
    }
    auto sections = cpu::encode_level(coding_.coder, coding_.tuning, level);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      for (OwnedSection& section : sections[i]) {
        keep(section.id, std::move(section.bytes), passes[i]);
      }
    }
  }

  FrameCoding coding_;
  PassEncoderMemory memory_;
  std::vector<PassRange> levels_;
  std::vector<PassInWork> passes_;
};

/// For predictors with one pass and no contexts.
template <class T>
class OnePassEncoder final : public CpuPassEncoder {
 public:
  OnePassEncoder(const FrameCoding& coding, const FrameInput<T>& frame,
                 const PassEncoderMemory& memory)
      : CpuPassEncoder(coding, memory), frame_(frame) {}

  void predict(PassRange /*range*/) override {
    PassInWork& pass = this->pass(0);
    pass.codes = workspace().codes.first(frame_.values.size());
    Predicted<T> predicted{pass.codes, {}, {}, {}};
    visit_one_pass(coding().predictor, [&](const auto& params) {
      if (!params.codes_missing_points) pass.gaps = Gaps(frame_.mask);
      predict_quantise(params, coding().tolerance.bound, frame_, predicted);
    });
    complete(pass, predicted);
  }

  void fit_contexts(PassRange /*range*/) override {}

 private:
  PassShape shape_of_pass(int /*number*/) const override { return {frame_.values.size(), 1}; }

  FrameInput<T> frame_;
};

/// For `multilevel`.
template <class T>
class MultilevelEncoder final : public CpuPassEncoder {
 public:
  MultilevelEncoder(const FrameCoding& coding, const FrameInput<T>& frame,
                    const PassEncoderMemory& memory)
      : CpuPassEncoder(coding, memory),
        points_(frame.values.size()),
        engine_(make_encoder(std::get<MultilevelParams>(coding.predictor), coding.tolerance, frame,
                             coding.local.get())) {}

  void predict(PassRange range) override {
    const std::span<QuantCode> codes = workspace().codes.first(points_);
    for (int number = range.first; number < range.end; ++number) {
      PassInWork& pass = this->pass(number);
      pass.codes = codes.subspan(predicted_, engine_->pass(number).points);
      predicted_ += pass.codes.size();
      pass.gaps = Gaps(engine_->missing(number));
      if (engine_->follows_coarse_lattice(number)) {
        keep(SectionId::lattice_hash, to_bytes(std::vector{engine_->coarse_hash()}), pass);
      }
      Predicted<T> predicted{pass.codes, {}, {}, {}};
      engine_->predict_quantise(number, pass.codes, predicted.outliers);
      complete(pass, predicted);
    }
  }

  std::int64_t error_sum() override { return engine_->error_sum(); }

  void fit_contexts(PassRange range) override {
    const std::span<std::uint8_t> contexts = workspace().contexts.first(points_);
    for (int number = range.first; number < range.end; ++number) {
      PassInWork& pass = this->pass(number);
      pass.contexts = contexts.subspan(fitted_, pass.codes.size());
      fitted_ += pass.contexts.size();
      keep(SectionId::contexts, engine_->fit_contexts(number, pass.contexts), pass);
      pass.contexts = pass.gaps.close(pass.contexts);
    }
  }

  /// A sixteenth for heads and waste of lanes, which is less in large frames.
  std::optional<ByteCount> most_bytes() const override {
    if (!std::holds_alternative<AnsParams>(coding().coder)) return std::nullopt;
    return bytes_so_far() + points_ * most_code_bits / 8 + points_ * sizeof(T) / 16;
  }

  void encode() override {
    engine_->drop_values();
    CpuPassEncoder::encode();
  }

 private:
  PassShape shape_of_pass(int number) const override {
    return shape_of(engine_->pass(number), std::get<MultilevelParams>(coding().predictor));
  }

  std::size_t points_;
  std::size_t predicted_ = 0;  ///< points
  std::size_t fitted_ = 0;
  std::unique_ptr<MultilevelEngine> engine_;
};

CodedPass keep(OwnCoded coded, SectionStore& store) {
  CodedPass result{{}, coded.counts, std::move(coded.final_params)};
  for (OwnedSection& section : coded.sections)
    store.keep(section.id, std::move(section.bytes), result.sections);
  return result;
}
std::vector<CodedPass> keep_passes(OwnCoded coded, SectionStore& store) {
  return {keep(std::move(coded), store)};
}
std::vector<CodedPass> keep_passes(std::vector<OwnCoded> coded, SectionStore& store) {
  std::vector<CodedPass> passes;
  passes.reserve(coded.size());
  for (OwnCoded& pass : coded) passes.push_back(keep(std::move(pass), store));
  return passes;
}

template <class T>
class CpuEncodeSession final : public EncodeSession {
 public:
  CpuEncodeSession(Workspace& workspace, const FrameShape& shape, Bytes values,
                   const ValueRules& rules, PredictorParams draft,
                   const std::optional<FieldScan>& known)
      : EncodeSession(workspace.slot),
        workspace_(workspace),
        shape_(shape.work()),
        stored_(shape.dtype),
        given_(values),
        original_(as_work_values(shape, values)),
        values_(original_),
        rules_(rules),
        draft_(std::move(draft)) {
    if (known) learn(*known, rules_);
  }

  const FieldScan& scan() override {
    if (!is_scanned_) learn(scan_frame(shape_.extents(), values_, rules_.fills, draft_), rules_);
    return scan_;
  }

  FrameMask mask() override {
    scan();
    return compact(mask_, shape_.dims, shape_.dtype);
  }

  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    std::vector<double> picked(points.size());
    std::transform(points.begin(), points.end(), picked.begin(),
                   [&](std::uint64_t point) { return static_cast<double>(values_[point]); });
    return picked;
  }

  std::vector<double> sampled_values() override {
    scan();
    const std::uint64_t wanted = sample_size(values_.size());
    std::vector<double> sampled;
    sampled.reserve(wanted);
    for (std::uint64_t k = 0; k < wanted; ++k) {
      const std::uint64_t point = sampled_point(k, wanted, values_.size());
      if (!mask_.any() || !mask_(point)) sampled.push_back(static_cast<double>(values_[point]));
    }
    radix_sort(sampled);
    return sampled;
  }

  MagnitudeRange sampled_magnitudes() override {
    return cpu::sampled_magnitudes(original_, MissingTest<T>(rules_.fills));
  }

  std::uint64_t count_bits(std::uint64_t bits) override {
    return cpu::count_bits(values_, static_cast<BitsOf<T>>(bits));
  }

  DistinctValues distinct_values() override {
    constexpr ByteCount piece = ByteCount{1} << 20;
    DistinctValues all;
    parallel_for(
        ceil_div(given_.size(), piece), [] { return DistinctValues{}; },
        [&](DistinctValues& own, std::uint64_t i) {
          const Bytes rest = given_.subspan(i * piece);
          own.add(stored_, rest.first(std::min<ByteCount>(rest.size(), piece)));
        },
        [&](const DistinctValues& own) { all.add(own); });
    return all;
  }

  void transform(const TransformChoice& choice, const ValueBound& bound) override {
    scan();
    transformed_.resize(original_.size());
    signs_ = transform_values(choice, bound, rules_.fills, frame_rules_, original_,
                              std::span(transformed_));
    values_ = transformed_;
    has_logs_ = std::holds_alternative<LogTransform>(choice.params);
    FieldScan found = scan_frame(shape_.extents(), values_, {}, draft_);
    const std::uint64_t kept = found.missing - scan_.missing;
    if (are_kept_in_tiles(draft_, choice.params, kept, shape_.points())) {
      found.missing = scan_.missing;
      scan_ = found;
      frame_rules_ = {};
    } else {
      learn(found, {});
    }
  }

  void keep_points(std::span<const std::uint64_t> points) override {
    FieldScan found = scan();
    transformed_.assign(original_.begin(), original_.end());
    for (std::size_t i = 0; i < transformed_.size(); ++i) {
      if ((points[i / 64] >> (i % 64) & 1) == 0) continue;
      transformed_[i] = std::numeric_limits<T>::quiet_NaN();
    }
    values_ = transformed_;
    const MissingTest<T> missing(rules_.fills);
    found.missing =
        static_cast<std::uint64_t>(std::count_if(values_.begin(), values_.end(), missing));
    learn(found, rules_);
  }

  Bytes encode_signs() override {
    coded_signs_ = cuszi::encode_signs(signs_, shape_.dims, in_threads);
    return coded_signs_;
  }

  std::unique_ptr<TrialSession> trials(const TrialPart& part) override {
    return make_trial_session(part, input());
  }

  void fit(PredictorParams& params) override {
    if (auto* const multilevel = std::get_if<MultilevelParams>(&params)) {
      fit_coefficients(*multilevel, input());
    }
  }

  std::unique_ptr<PassEncoder> passes(const FrameCoding& coding) override {
    const PassEncoderMemory memory{workspace_, store_};
    if (std::holds_alternative<MultilevelParams>(coding.predictor)) {
      return std::make_unique<MultilevelEncoder<T>>(coding, input(), memory);
    }
    return std::make_unique<OnePassEncoder<T>>(coding, input(), memory);
  }

  std::vector<CodedPass> encode_values(const FrameCoding& coding) override {
    FrameInput<T> frame = input();
    frame.local = coding.local.get();
    return visit_own_coder(coding.predictor, [&](const auto& params) {
      return keep_passes(cpu::encode_values(params, coding.tolerance.bound, frame), store_);
    });
  }

  std::optional<double> sampled_magnitude() override {
    if (is_scanned_ || !may_be_unscanned(draft_, rules_)) return std::nullopt;
    scan_.sampled = cpu::sampled_magnitude(values_, MissingTest<T>());
    return scan_.sampled;
  }

  std::vector<CodedPass> encode_unscanned(const PredictorParams& params, double bound) override {
    const FrameInput<T> frame{shape_.extents(), values_, mask_, 0, 0, shape_.dims};
    auto coded = cpu::encode_unscanned(std::get<TilesParams>(params), bound, frame, scan_);
    if (!coded) return {};
    is_scanned_ = true;
    return {keep(*std::move(coded), store_)};
  }

  std::optional<CodedPass> encode_words() override {
    OwnCoded coded;
    coded.sections = cpu::encode_words({stored_, shape_.dims}, given_);
    return keep(std::move(coded), store_);
  }
  PredictedValues encode_lossless(Bytes values, const FrameShape& stored,
                                  std::uint64_t step) override {
    return share_sections(encode_predicted(values, stored, in_threads, step));
  }

  void pack(Sections& /*sections*/) override { refuse_bitcomp("packing with Bitcomp"); }

  void drop_values() override { work_ = {}; }

 private:
  /// The values as work values: the given ones, or converted into `work_`.
  std::span<const T> as_work_values(const FrameShape& shape, Bytes values) {
    if (!is_cast(shape.dtype)) return as_values<T>(values);
    const std::span<T> work = work_.first(shape.points());
    to_work(shape.dtype, values, std::as_writable_bytes(work), in_threads);
    return work;
  }

  void learn(const FieldScan& scan, const ValueRules& rules) {
    scan_ = scan;
    is_scanned_ = true;
    mask_ = build_mask(values_, original_, rules.fills, scan.missing);
    frame_rules_ = RestoreRules<T>(rules, scan.min, scan.max);
  }

  FrameInput<T> input() {
    scan();
    return {
        shape_.extents(), values_,     mask_,        scan_.min,
        scan_.max,        shape_.dims, frame_rules_, has_logs_ ? original_ : std::span<const T>()};
  }

  Workspace& workspace_;
  FrameShape shape_;  ///< of work values
  DType stored_;
  Bytes given_;
  GrowingMemory<T> work_;
  std::span<const T> original_;
  std::span<const T> values_;  ///< original or transformed
  std::vector<T> transformed_;
  std::vector<std::uint64_t> signs_;
  std::vector<std::byte> coded_signs_;
  bool has_logs_ = false;
  ValueRules rules_;
  PredictorParams draft_;
  bool is_scanned_ = false;
  FieldScan scan_;
  Mask mask_;
  RestoreRules<T> frame_rules_;
  SectionStore store_;
};

}  // namespace

std::unique_ptr<EncodeSession> make_encode_session(Workspace& workspace, const FrameShape& shape,
                                                   Bytes values, const ValueRules& rules,
                                                   const PredictorParams& draft,
                                                   const std::optional<FieldScan>& known) {
  return with_type_of(work_of(shape.dtype), [&](auto zero) -> std::unique_ptr<EncodeSession> {
    return std::make_unique<CpuEncodeSession<decltype(zero)>>(workspace, shape, values, rules,
                                                              draft, known);
  });
}

}  // namespace cuszi::cpu
