#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/base/radix_sort.hpp"
#include "core/cells/slices.hpp"
#include "core/tuning/fit_sample.hpp"
#include "gpu/cells/cells.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/coders/nvcomp.hpp"
#include "gpu/field/histogram.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/field/stored_values.cuh"
#include "gpu/field/stored_values.hpp"
#include "gpu/interp/interp.cuh"
#include "gpu/lorenzo/lorenzo.cuh"
#include "gpu/lossless/words.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/session/scan.cuh"
#include "gpu/session/sessions.hpp"
#include "gpu/signs/signs.cuh"
#include "gpu/tiles/tile_words.cuh"
#include "gpu/tiles/tiles.cuh"
#include "gpu/transform/restoration.cuh"
#include "gpu/tuning/multilevel_fit.cuh"
#include "gpu/tuning/trials.cuh"
#include "gpu/zfp/zfp_coding.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned find_blocks = 16;  ///< per multiprocessor

__global__ void remove_missing(const QuantCode* codes, std::uint64_t points, RankedBits missing,
                               QuantCode* symbols) {
  const std::uint64_t point = ItemPolicy::first();
  if (point < points && !missing.test(point)) symbols[point - missing.rank(point)] = codes[point];
}

template <class S>
__global__ void pick(const S* values, const std::uint64_t* points, std::uint64_t count,
                     double* picked) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) picked[i] = converted_to<double>(values[points[i]]);
}

/// NaN if missing.
template <class T>
__global__ void pick_sample(const T* values, std::uint64_t points, MissingTest<T> missing,
                            std::uint64_t wanted, double* picked) {
  const std::uint64_t k = ItemPolicy::first();
  if (k >= wanted) return;
  const T value = values[sampled_point(k, wanted, points)];
  picked[k] =
      missing(value) ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(value);
}

/// Marked points become NaN.
template <class T>
__global__ void leave_out(const T* values, std::uint64_t points, const std::uint64_t* left_out,
                          T* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= points) return;
  const bool is_left_out = (left_out[i / 64] >> (i % 64) & 1) != 0;
  out[i] = is_left_out ? std::numeric_limits<T>::quiet_NaN() : values[i];
}

template <class Bits>
__global__ void count_bits(const Bits* values, std::uint64_t points, Bits bits,
                           unsigned long long* count) {
  unsigned long long here = 0;
  for (std::uint64_t i = ItemPolicy::first(); i < points; i += ItemPolicy::step())
    here += values[i] == bits ? 1 : 0;
  if (here != 0) atomicAdd(count, here);
}

template <class Bits>
__global__ void find_change(const Bits* bits, std::uint64_t count, std::uint32_t* found) {
  bool here = false;
  for (std::uint64_t i = ItemPolicy::first(); i < count; i += ItemPolicy::step())
    here |= bits[i] != bits[0];
  if (here) *found = 1;
}

/// For predictors with one pass and no contexts.
template <class T>
class GpuPassEncoder final : public PassEncoder {
 public:
  GpuPassEncoder(DeviceContext& gpu, const FrameCoding& coding, const FrameInput<T>& frame)
      : gpu_(gpu), coding_(coding), frame_(frame) {}

  void predict(PassRange /*passes*/) override {
    const std::uint64_t points = count_of(frame_.extents);
    codes_ = {gpu_.take<QuantCode>(points), points};
    visit_one_pass(coding_.predictor, [&](const auto& params) {
      started_ = start_prediction(gpu_, params, coding_.tolerance.bound, frame_, codes_.data());
      gpu_.streams().mark();
      if (frame_.missing_points != 0 && !params.codes_missing_points) leave_out_missing();
    });
    book_ = start_codebook(gpu_, coding_.coder, started_.histogram);
  }

  void fit_contexts(PassRange /*passes*/) override {}

  void encode() override {
    Predicted predicted;
    gpu_.streams().wait_for_mark();
    gpu_.streams().fork_since_mark(
        [&] { predicted = started_.finish(); });  // while the codebook is computed
    pass_.counts = predicted.counts;
    add_section(SectionId::anchors, predicted.anchors, pass_.sections);
    add_section(SectionId::outliers, predicted.outliers, pass_.sections);
    add_section(SectionId::patches, predicted.patches, pass_.sections);
    const Sections coded = encode_symbols(gpu_, coding_.coder, coding_.tuning, codes_, book_,
                                          count_of(frame_.extents));
    gpu_.streams().join();
    for (const Section& section : coded.list()) pass_.sections.add(section);
  }

  std::vector<CodedPass> finish() override { return {pass_}; }

 private:
  void leave_out_missing() {
    const std::uint64_t points = codes_.size();
    const std::uint64_t symbols = points - frame_.missing_points;
    auto* const kept = gpu_.take<QuantCode>(symbols);
    launch_items(gpu_, "remove_missing", points, remove_missing, codes_.data(), points,
                 frame_.missing, kept);
    codes_ = {kept, symbols};
    const auto bins = static_cast<std::uint32_t>(started_.histogram.size());
    started_.histogram = count_symbols(gpu_, kept, symbols, bins);
  }

  DeviceContext& gpu_;
  FrameCoding coding_;
  FrameInput<T> frame_;
  std::span<QuantCode> codes_;  ///< to be coded
  StartedPrediction started_;
  std::optional<DeviceCodebook> book_;
  CodedPass pass_;
};

template <class T>
class GpuEncodeSession final : public EncodeSession {
 public:
  GpuEncodeSession(FrameSlot& slot, DeviceContext& gpu, const FrameShape& shape, Bytes values,
                   const ValueRules& rules, PredictorParams draft,
                   const std::optional<FieldScan>& known)
      : EncodeSession(slot),
        gpu_(gpu),
        shape_(shape.work()),
        memory_(gpu),
        rules_(rules),
        fills_(rules.fills),
        draft_(std::move(draft)) {
    gpu_.reset();
    given_ = values.data();
    stored_bytes_ = bring(gpu_, values);
    stored_ = {shape.dtype, stored_bytes_.data()};
    const bool are_tiles = std::holds_alternative<TilesParams>(draft_);
    if (!are_tiles || !allows_four_converted(shape, stored_.bytes)) make_values();
    if (known) learn(*known, rules_);
  }

  const FieldScan& scan() override {
    if (is_scanned_) return scan_;
    look_at_all();
    learn(scan_, rules_);
    return scan_;
  }

  FrameMask mask() override {
    FrameMask mask;
    mask.count = scan().missing;
    if (mask.count == 0) return mask;
    const auto* const bits = reinterpret_cast<const BitsOf<T>*>(missing_.values);
    auto* const differ = gpu_.take_zeroed<std::uint32_t>(1);
    launch_in_turn(gpu_, "find_change", mask.count, find_blocks, find_change<BitsOf<T>>, bits,
                   mask.count, differ);
    const std::uint32_t& not_alike = *download(gpu_, differ, 1);
    mask.bits = gpu::coded_form(gpu_, missing_.bits.words, shape_.dims);
    mask.values.resize((not_alike != 0 ? mask.count : 1) * sizeof(T));
    start_copy(gpu_, mask.values.data(), reinterpret_cast<const std::byte*>(bits),
               mask.values.size());
    gpu_.sync();
    return mask;
  }

  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    const std::uint64_t count = points.size();
    if (count == 0) return {};
    const auto* const at = upload(gpu_, points.data(), count);
    auto* const picked = gpu_.take<double>(count);
    visit_values(values_, stored_, [&]<class S>(const S* values) {
      launch_items(gpu_, "pick", count, pick<S>, values, at, count, picked);
    });
    const double* const host = download(gpu_, picked, count);
    gpu_.sync();
    return {host, host + count};
  }

  std::vector<double> sampled_values() override {
    scan();
    if (!sample_) finish_sample(start_sample());
    return *sample_;
  }

  CellsSample sample_of_cells() override {
    if (cells_sample_ == nullptr) {
      start_cells_sample();
      gpu_.sync();
    }
    return *cells_sample_;
  }

  MagnitudeRange sampled_magnitudes() override {
    make_values();
    return sample_magnitudes(gpu_, original_, shape_.points(), rules_.fills);
  }

  std::uint64_t count_bits(std::uint64_t bits) override {
    make_values();
    const std::uint64_t points = shape_.points();
    auto* const count = gpu_.take_zeroed<unsigned long long>(1);
    launch_in_turn(gpu_, "count_bits", points, find_blocks, gpu::count_bits<BitsOf<T>>,
                   reinterpret_cast<const BitsOf<T>*>(values_), points,
                   static_cast<BitsOf<T>>(bits), count);
    const unsigned long long& answer = *download(gpu_, count, 1);
    gpu_.sync();
    return answer;
  }

  DistinctValues distinct_values() override {
    return gpu::distinct_values(gpu_, stored_.dtype, stored_bytes_);
  }

  void transform(const TransformChoice& choice, const ValueBound& bound) override {
    scan();
    make_values();
    const std::uint64_t points = shape_.points();
    auto* const out = gpu_.take<T>(points);
    negative_ = gpu_.take_zeroed<std::uint64_t>(ceil_div(points, 64));
    transform_values(gpu_, choice, bound, rules_.fills, frame_rules_, original_, points, out,
                     negative_);
    const std::uint64_t missing = scan_.missing;
    values_ = out;
    fills_ = {};
    has_logs_ = std::holds_alternative<LogTransform>(choice.params);
    look_at_all();
    if (are_kept_in_tiles(draft_, choice.params, scan_.missing - missing, points)) {
      scan_.missing = missing;
      frame_rules_ = {};
    } else {
      missing_ = {};
      learn(scan_, {});
    }
  }

  void keep_points(std::span<const std::uint64_t> kept) override {
    FieldScan found = scan();
    std::vector<std::uint64_t> missing(kept.size());
    if (found.missing != 0) {
      start_copy(gpu_, missing.data(), missing_.bits.words, missing.size());
      gpu_.sync();
    }
    found.missing = 0;
    for (std::size_t word = 0; word < kept.size(); ++word) {
      found.missing += static_cast<unsigned>(std::popcount(kept[word] | missing[word]));
    }
    const std::uint64_t points = shape_.points();
    auto* const out = gpu_.take<T>(points);
    launch_items(gpu_, "leave_out", points, leave_out<T>, original_, points,
                 upload(gpu_, kept.data(), kept.size()), out);
    missing_ = {};
    sample_.reset();
    cells_sample_ = nullptr;
    values_ = out;
    learn(found, rules_);
  }

  Bytes encode_signs() override { return gpu::encode_signs(gpu_, negative_, shape_.dims); }

  std::unique_ptr<TrialSession> trials(const TrialPart& part) override {
    return make_trial_session(gpu_, part, input(), present_values(), frame_fits());
  }

  void fit(PredictorParams& params) override {
    auto* const multilevel = std::get_if<MultilevelParams>(&params);
    if (multilevel != nullptr) frame_fits().fit({&multilevel, 1});
  }

  std::unique_ptr<PassEncoder> passes(const FrameCoding& coding) override {
    if (std::holds_alternative<MultilevelParams>(coding.predictor)) {
      return make_multilevel_encoder<T>(gpu_, memory_, coding, input());
    }
    return std::make_unique<GpuPassEncoder<T>>(gpu_, coding, input());
  }

  std::vector<CodedPass> encode_values(const FrameCoding& coding) override {
    const bool are_tiles = std::holds_alternative<TilesParams>(coding.predictor);
    FrameInput<T> frame = are_tiles ? stored_input() : input();
    frame.local = coding.local.get();
    const auto encode = [&]<class Params>(const Params& params) -> std::vector<CodedPass> {
      if constexpr (std::is_same_v<Params, CellsParams>) {
        return gpu::encode_values(gpu_, params, coding.tolerance.bound, frame);
      } else {
        return {gpu::encode_values(gpu_, params, coding.tolerance.bound, frame)};
      }
    };
    return visit_own_coder(coding.predictor, encode);
  }

  std::optional<double> sampled_magnitude() override {
    if (is_scanned_ || rules_.any()) return std::nullopt;
    if (std::holds_alternative<CellsParams>(draft_)) return sampled_magnitude_of_cells();
    if (!std::holds_alternative<TilesParams>(draft_)) return std::nullopt;
    if (!sampled_) sampled_ = sample_range(gpu_, values_, stored_, shape_.points());
    return sampled_->magnitude;
  }

  std::vector<CodedPass> encode_unscanned(const PredictorParams& params, double bound) override {
    if (const auto* const cells = std::get_if<CellsParams>(&params)) {
      const FrameInput<T> frame{shape_.extents(), values_, {}, 0, 0, 0, shape_.dims};
      auto coded = gpu::encode_unscanned(gpu_, *cells, bound, frame);
      if (!coded) return {};
      learn_range(coded->min, coded->max);
      return std::move(coded->passes);
    }
    FrameInput<T> frame{shape_.extents(), values_,       {},         0,
                        sampled_->min,    sampled_->max, shape_.dims};
    frame.stored = stored_;
    auto tiles = gpu::encode_unscanned(gpu_, std::get<TilesParams>(params), bound, frame);
    if (!tiles) return {};
    learn_range(tiles->min, tiles->max);
    scan_.sampled = sampled_->magnitude;
    return {std::move(tiles->coded)};
  }

  std::optional<CodedLogs> encode_logs_unscanned(const PredictorParams& params,
                                                 const TransformChoice& choice,
                                                 const ValueBound& bound) override {
    if (is_scanned_ || !may_be_unscanned(draft_, rules_)) return std::nullopt;
    make_values();
    return gpu::encode_logs_unscanned(gpu_, std::get<TilesParams>(params), choice, bound,
                                      shape_.extents(), original_);
  }

  std::optional<CodedPass> encode_words() override {
    auto coded = gpu::encode_words(gpu_, {stored_.dtype, shape_.dims}, stored_.bytes);
    if (!coded) return std::nullopt;
    if (!is_cast(stored_.dtype)) learn_range(coded->min, coded->max);
    return coded->pass;
  }
  PredictedValues encode_lossless(Bytes values, const FrameShape& stored,
                                  std::uint64_t step) override {
    const Bytes there = values.data() == given_ ? stored_bytes_ : bring(gpu_, values);
    PredictedFrame coded = encode_predicted(gpu_, there, stored, step);
    if (stored.dtype == shape_.dtype && values.data() == given_) learn_range(coded.min, coded.max);
    return std::move(coded.words);
  }

  void pack(Sections& sections) override { bitcomp_pack(gpu_, shape_.dtype, sections); }

 private:
  /// Converts them, if that has not been done.
  void make_values() {
    if (original_ != nullptr) return;
    original_ = reinterpret_cast<const T*>(to_work(gpu_, stored_.dtype, stored_bytes_).data());
    values_ = original_;
  }
  /// Of all values, which saves a scan if they are finite and none are left out.
  void learn_range(double min, double max) {
    if (is_scanned_ || rules_.any() || !std::isfinite(min) || !std::isfinite(max)) return;
    scan_.min = min + 0.0;  // see scan_frame()
    scan_.max = max + 0.0;
    is_scanned_ = true;
  }
  /// nullopt if `cells` takes more of a frame than its sample before it is coded.
  std::optional<double> sampled_magnitude_of_cells() {
    if (!points_for_tile_rank(shape_.extents()).empty()) return std::nullopt;
    const CellsSample sample = sample_of_cells();
    const bool has_missing = sample.count() != sample_size(shape_.points());
    if (has_missing || sample.background != 0) return std::nullopt;
    return sample.magnitude();
  }
  /// Also samples, if the predictor needs it.
  void look_at_all() {
    sample_.reset();
    std::span<const double> picked;
    if (std::holds_alternative<MultilevelParams>(draft_)) picked = start_sample();
    const bool are_cells = std::holds_alternative<CellsParams>(draft_);
    if (are_cells) gpu_.streams().fork([&] { start_cells_sample(); });
    scan_ = scan_frame(gpu_, shape_.extents(), values_, stored_, fills_, draft_, [&] {
      if (!picked.empty()) finish_sample(picked);
      if (are_cells) gpu_.streams().join();
    });
  }
  /// Found after the next sync().
  void start_cells_sample() {
    cells_sample_ = gpu_.take_pinned<CellsSample>(1);
    find_backgrounds(
        gpu_, FrameTasks<BackgroundTask<T>>(
                  gpu_, {{values_, shape_.points(), MissingTest<T>(fills_), cells_sample_}}));
  }
  /// NaN if missing; valid once the stream has passed the mark.
  std::span<const double> start_sample() {
    make_values();
    const std::uint64_t wanted = sample_size(shape_.points());
    auto* const picked = gpu_.take<double>(wanted);
    launch_items(gpu_, "pick_sample", wanted, pick_sample<T>, values_, shape_.points(),
                 MissingTest<T>(fills_), wanted, picked);
    const double* const sample = download(gpu_, picked, wanted);
    gpu_.streams().mark();
    return {sample, wanted};
  }
  void finish_sample(std::span<const double> picked) {
    gpu_.streams().wait_for_mark();
    std::vector<double>& sample = sample_.emplace();
    sample.reserve(picked.size());
    std::copy_if(picked.begin(), picked.end(), std::back_inserter(sample),
                 [](double value) { return !std::isnan(value); });
    radix_sort(sample);
  }

  void learn(const FieldScan& scan, const ValueRules& rules) {
    scan_ = scan;
    is_scanned_ = true;
    frame_rules_ = RestoreRules<T>(rules, scan.min, scan.max);
    if (scan.missing == 0) return;
    make_values();
    missing_ = find_missing(gpu_, values_, original_, shape_.points(), fills_, scan.missing);
  }

  FrameInput<T> input() {
    make_values();
    return stored_input();
  }
  /// For `tiles`: without values as long as these have not been converted.
  FrameInput<T> stored_input() {
    scan();
    FrameInput<T> frame{shape_.extents(), values_,      missing_.bits,
                        scan_.missing,    scan_.min,    scan_.max,
                        shape_.dims,      frame_rules_, has_logs_ ? original_ : nullptr};
    frame.stored = stored_;
    return frame;
  }

  const T* present_values() {
    if (present_values_ == nullptr) present_values_ = without_missing(gpu_, input());
    return present_values_;
  }

  Fits<T>& frame_fits() {
    if (!frame_fits_) frame_fits_.emplace(gpu_, input(), present_values());
    return *frame_fits_;
  }

  DeviceContext& gpu_;
  FrameShape shape_;                  ///< of work values
  const std::byte* given_ = nullptr;  ///< the stored values where they came from
  Bytes stored_bytes_;
  StoredValues<const std::byte> stored_;
  const T* original_ = nullptr;  ///< null until make_values()
  const T* values_ = nullptr;    ///< original or transformed
  std::uint64_t* negative_ = nullptr;
  bool has_logs_ = false;
  FrameMemory memory_;
  ValueRules rules_;
  FillValues fills_;
  PredictorParams draft_;
  std::optional<SampledRange> sampled_;
  bool is_scanned_ = false;
  FieldScan scan_;
  CellsSample* cells_sample_ = nullptr;
  std::optional<std::vector<double>> sample_;  ///< see sampled_values()
  MissingPoints<T> missing_;
  RestoreRules<T> frame_rules_;
  const T* present_values_ = nullptr;
  std::optional<Fits<T>> frame_fits_;
};

}  // namespace

std::unique_ptr<EncodeSession> make_encode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   const FrameShape& shape, Bytes values,
                                                   const ValueRules& rules,
                                                   const PredictorParams& draft,
                                                   const std::optional<FieldScan>& known) {
  return with_type_of(work_of(shape.dtype), [&](auto zero) -> std::unique_ptr<EncodeSession> {
    return std::make_unique<GpuEncodeSession<decltype(zero)>>(slot, gpu, shape, values, rules,
                                                              draft, known);
  });
}

}  // namespace cuszi::gpu
