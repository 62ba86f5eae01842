#include <functional>
#include <numeric>

#include "core/tuning/dead_zone.hpp"
#include "gpu/coders/ans.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/field/hash.cuh"
#include "gpu/field/histogram.cuh"
#include "gpu/multilevel/context.cuh"
#include "gpu/multilevel/gaps.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/tuning/context_fit.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned count_blocks = 8;  ///< per multiprocessor
constexpr std::size_t all_contexts = 256;

/// By context.
__global__ void count_rare_codes(const QuantCode* codes, const std::uint8_t* contexts,
                                 std::uint64_t count, std::uint32_t radius, RareCodes* counts) {
  for (std::uint64_t i = ItemPolicy::first(); i < count; i += ItemPolicy::step()) {
    const std::uint8_t magnitude = magnitude_of_code(codes[i], radius);
    if (magnitude >= 2) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&counts[contexts[i]][magnitude]), 1ULL);
  }
}

struct PassSums {
  std::uint64_t outliers;
  std::int64_t errors;  ///< see QuantiseTask
};

template <class T>
class MultilevelEncoder final : public PassEncoder {
 public:
  MultilevelEncoder(DeviceContext& gpu, FrameMemory& memory, const FrameCoding& coding,
                    const FrameInput<T>& frame)
      : gpu_(gpu),
        memory_(taken_back(gpu, memory)),
        coding_(coding),
        params_(std::get<MultilevelParams>(coding_.predictor)),
        input_(frame),
        frame_(gpu, memory, params_, frame.min, frame.max, memory.take<T>(count_of(frame.extents))),
        bounds_(coding_.local == nullptr
                    ? nullptr
                    : spread_bounds(gpu, *coding_.local, {frame.dims},
                                    memory.take<std::uint8_t>(frame_.points()))),
        codes_(memory.take<QuantCode>(frame_.points())),
        contexts_(uses_contexts(coding.coder) || coding.predicts_by_contexts()
                      ? memory.take<std::uint8_t>(frame_.points())
                      : nullptr),
        sums_(gpu.take_zeroed<PassSums>(passes())),
        outliers_(make_outlier_sets()),
        coded_(passes()) {}

  void predict(PassRange range) override {
    const PassRange passes = within(range);
    quantise(passes);
    const auto add_hash = start_lattice_hash(passes);
    await_sums();
    add_hash();
    add_outliers(passes);
  }

  void fit_contexts(PassRange range) override {
    const PassRange passes = within(range);
    const auto weights = choose_weights(gpu_, frame_, passes, input_.missing, remembered_);
    std::vector<ContextWeights> all;
    std::vector<std::vector<std::byte>> sections;
    for (const std::vector<ContextWeights>& own : weights) {
      all.insert(all.end(), own.begin(), own.end());
      sections.push_back(write_weights(own));
    }
    const ContextWeights* on_device = upload(gpu_, all.data(), all.size());
    std::vector<SmallPassContexts<T>> small;
    for (int number = passes.first; number < passes.end; ++number) {
      if (frame_.pass(number).points <= RegionPolicy::small_pass) {
        small.push_back({frame_.view(number), on_device, contexts(number)});
      } else {
        fill_contexts(gpu_, frame_.view(number), on_device, contexts(number));
      }
      on_device += weights[static_cast<std::size_t>(number - passes.first)].size();
    }
    fill_contexts<T>(gpu_, small);
    const bool split = params_.split_contexts && bounds_ != nullptr;
    for (int number = passes.first; split && number < passes.end; ++number) {
      split_contexts(gpu_, frame_.view(number), bounds_, contexts_of(frame_.pass(number)),
                     contexts(number));
    }
    add(passes, SectionId::contexts, sections);
  }

  std::int64_t error_sum() override {
    return std::accumulate(
        found_, found_ + passes(), std::int64_t{0},
        [](std::int64_t sum, const PassSums& pass) { return sum + pass.errors; });
  }

  void encode() override {
    gpu_.lend(frame_.finest_values());  // contexts were the last to read them
    close_gaps();
    const auto* const ans = std::get_if<AnsParams>(&coding_.coder);
    if (ans != nullptr) {
      encode_levels(*ans);
    } else {
      for (int number = 0; number < frame_.passes(); ++number) encode_pass(number);
    }
  }

  std::vector<CodedPass> finish() override { return std::move(coded_); }

  /// Estimate: all passes form one level, and missing points are coded.
  std::uint64_t cost(const AnsParams& params) {
    const PassRange all{0, frame_.passes()};
    if (coding_.predicts_by_contexts()) {
      for (int number = 0; number < all.end; ++number) {
        quantise({number, number + 1});
        fit_contexts({number, number + 1});
      }
    } else {
      quantise(all);
      fit_contexts(all);
    }
    await_sums();
    add_outliers(all);
    ByteWriter head;
    params_.write(head);
    std::uint64_t bytes = head.size();
    for (const CodedPass& pass : coded_) bytes += pass.sections.size();
    return bytes + ans_bytes(gpu_, params, symbols_of(all));
  }

 private:
  void quantise(PassRange passes) {
    for (int number = passes.first; number < passes.end; ++number) {
      frame_.enter(number);
      quantise_pass(gpu_, frame_.view(number), task_of(number));
      if (coding_.predicts_by_contexts()) quantise_with_dead_zone(number);
    }
  }

  std::size_t passes() const { return frame_.plan().passes.size(); }
  PassRange within(PassRange range) const {
    return {range.first, std::min(range.end, frame_.passes())};
  }
  CodedPass& coded(int number) { return coded_[static_cast<std::size_t>(number)]; }
  QuantCode* codes(int number) const { return codes_ + frame_.start(number); }
  std::uint8_t* contexts(int number) const { return contexts_ + frame_.start(number); }

  /// In one zeroed block of memory.
  std::vector<RankedBits> make_outlier_sets() {
    std::vector<RankedBits> sets(passes());
    std::uint64_t blocks = 0;
    for (int number = 0; number < frame_.passes(); ++number) {
      RankedBits& set = sets[static_cast<std::size_t>(number)];
      set.blocks = ceil_div(frame_.pass(number).points, RankedBits::block_points);
      blocks += set.blocks;
    }
    auto* words = memory_.take<std::uint64_t>(blocks * RankedBits::block_words);
    check(
        cudaMemsetAsync(words, 0, blocks * RankedBits::block_words * sizeof *words, gpu_.stream()),
        "clear memory");
    auto* ranks = memory_.take<std::uint16_t>(blocks * RankedBits::block_words);
    auto* ranks_of_blocks = memory_.take<std::uint64_t>(blocks + sets.size());
    for (RankedBits& set : sets) {
      set.words = words;
      set.rank_in_block = ranks;
      set.rank_of_block = ranks_of_blocks;
      words += set.blocks * RankedBits::block_words;
      ranks += set.blocks * RankedBits::block_words;
      ranks_of_blocks += set.blocks + 1;
    }
    return sets;
  }

  LocalQuantizers<T> local_quantizers_of(const Pass& pass) const {
    if (bounds_ == nullptr) return {};
    const auto all =
        local_quantizers(*coding_.local, params_, pass.level, input_.min, input_.max, input_.rules);
    return {bounds_, upload(gpu_, all.data(), all.size())};
  }

  QuantiseTask<T> task_of(int number) const {
    const Pass& pass = frame_.pass(number);
    const Quantizer<T> quantizer(params_.half_step_of(pass.level), coding_.tolerance.bound,
                                 input_.min, input_.max, params_.radius, input_.rules);
    QuantiseTask<T> task{input_.values,
                         input_.missing,
                         input_.rules,
                         quantizer,
                         codes(number),
                         outliers_[static_cast<std::size_t>(number)],
                         &sums_[number].outliers,
                         &sums_[number].errors,
                         error_units_per_one(coding_.tolerance.bound),
                         frame_.listed(number)};
    task.local = local_quantizers_of(pass);
    return task;
  }

  /// Quantises again with dead zones by context.
  void quantise_with_dead_zone(int number) {
    const PassRange pass{number, number + 1};
    RememberedWeights remembered = remembered_;
    const std::vector<ContextWeights> weights =
        choose_weights(gpu_, frame_, pass, input_.missing, remembered).front();
    fill_contexts(gpu_, frame_.view(number), upload(gpu_, weights.data(), weights.size()),
                  contexts(number));
    QuantiseTask<T> task = task_of(number);
    const std::vector<T> zones = zones_of(number);
    task.contexts = contexts(number);
    task.zones = upload(gpu_, zones.data(), zones.size());
    check(cudaMemsetAsync(task.outliers.words, 0,
                          task.outliers.blocks * RankedBits::block_words * sizeof(std::uint64_t),
                          gpu_.stream()),
          "clear memory");
    check(cudaMemsetAsync(sums_ + number, 0, sizeof *sums_, gpu_.stream()), "clear memory");
    quantise_pass(gpu_, frame_.view(number), task);
  }

  /// In steps, by context.
  std::vector<T> zones_of(int number) {
    const std::uint64_t points = frame_.pass(number).points;
    auto* const counts = gpu_.take_zeroed<RareCodes>(all_contexts);
    launch_in_turn(gpu_, "count_rare_codes", points, count_blocks, count_rare_codes, codes(number),
                   contexts(number), points, params_.radius, counts);
    const RareCodes* const on_host = download(gpu_, counts, all_contexts);
    gpu_.sync();
    std::vector<T> zones;
    for (std::size_t i = 0; i < all_contexts; ++i) {
      zones.push_back(
          static_cast<T>(dead_zone_for(on_host[i], coding_.tolerance.bound_over_half_step)));
    }
    return zones;
  }

  /// Hashes the coarse lattice before the pass that follows it. Call the result after the next
  /// wait.
  std::function<void()> start_lattice_hash(PassRange range) {
    for (int number = range.first; number < range.end; ++number) {
      if (!frame_.follows_coarse_lattice(number)) continue;
      const Bytes lattice = frame_.coarse_values();
      return [this, number, hashes = start_block_hashes(gpu_, std::span(&lattice, 1))] {
        ByteWriter bytes;
        bytes.put(hashes().front());
        add({number, number + 1}, SectionId::lattice_hash, {bytes.take()});
      };
    }
    return [] {};
  }

  void await_sums() {
    found_ = download(gpu_, sums_, passes());
    gpu_.sync();
  }

  void add_outliers(PassRange range) {
    for (int number = range.first; number < range.end; ++number) {
      PassCounts& result = coded(number).counts;
      result.outliers = found_[number].outliers;
      add_section(SectionId::outliers,
                  list_outliers(gpu_, frame_.view(number), input_.values,
                                outliers_[static_cast<std::size_t>(number)], result.outliers),
                  coded(number).sections);
    }
  }

  /// Empty sections are omitted.
  void add(PassRange range, SectionId id, const std::vector<std::vector<std::byte>>& sections) {
    std::vector<std::byte> all;
    for (const auto& bytes : sections) all.insert(all.end(), bytes.begin(), bytes.end());
    Bytes rest(upload(gpu_, all.data(), all.size()), all.size());
    for (int number = range.first; number < range.end; ++number) {
      const std::size_t size = sections[static_cast<std::size_t>(number - range.first)].size();
      if (size != 0) coded(number).sections.add(id, rest.first(size));
      rest = rest.subspan(size);
    }
  }

  std::vector<PassRange> levels() const {
    return passes_of_levels(level_of_pass(coding_.predictor));
  }

  PassSymbols symbols_of(int number) const {
    const Pass& pass = frame_.pass(number);
    const std::uint64_t start = gaps_.any() ? gaps_.start(number) : frame_.start(number);
    return {codes_ + start, contexts_ == nullptr ? nullptr : contexts_ + start,
            gaps_.any() ? gaps_.count(number) : pass.points, shape_of(pass, params_)};
  }

  LevelSymbols symbols_of(PassRange range) const {
    LevelSymbols symbols;
    for (int number = range.first; number < range.end; ++number) {
      symbols.push_back(symbols_of(number));
    }
    return symbols;
  }

  /// Removes missing points from codes and contexts.
  void close_gaps() {
    gaps_ = Gaps(gpu_, frame_, input_.missing);
    if (!gaps_.any()) return;
    const PassRange all{0, frame_.passes()};
    const std::uint64_t points = gaps_.start(all.end);
    auto* const codes = gpu_.take<QuantCode>(points);
    gaps_.close(gpu_, all, codes_, codes);
    codes_ = codes;
    if (contexts_ == nullptr) return;
    auto* const contexts = gpu_.take<std::uint8_t>(points);
    gaps_.close(gpu_, all, contexts_, contexts);
    contexts_ = contexts;
  }

  void encode_levels(const AnsParams& params) {
    std::vector<LevelSymbols> symbols;
    for (const PassRange& level : levels()) symbols.push_back(symbols_of(level));
    const std::vector<AnsStream> streams = ans_encode(gpu_, params, symbols);
    auto stream = streams.begin();
    for (const PassRange& level : levels()) {
      Sections& sections = coded(level.first).sections;
      add_section(SectionId::index, stream->index, sections);
      add_section(SectionId::codes, stream->codes, sections);
      ++stream;
    }
  }

  /// Without contexts; reads whole words.
  void encode_pass(int number) {
    const PassSymbols pass = symbols_of(number);
    auto* const codes = gpu_.take<QuantCode>(pass.count);
    start_copy(gpu_, codes, pass.codes, pass.count);
    const auto histogram = count_symbols(gpu_, codes, pass.count, 2 * centre_of(coding_.predictor));
    gpu_.sync();
    const Sections sections = encode_symbols(gpu_, coding_.coder, coding_.tuning,
                                             {codes, pass.count}, histogram, pass.shape.points);
    for (const Section& section : sections.list()) coded(number).sections.add(section);
  }

  static FrameMemory& taken_back(DeviceContext& gpu, FrameMemory& memory) {
    gpu.lend({});
    memory.reset();
    return memory;
  }

  DeviceContext& gpu_;
  FrameMemory& memory_;
  FrameCoding coding_;
  const MultilevelParams& params_;
  FrameInput<T> input_;
  LevelFrame<T> frame_;
  const std::uint8_t* bounds_;       ///< of the frame's points; null: the frame's bound
  QuantCode* codes_;                 ///< by pass and code position
  std::uint8_t* contexts_;           ///< likewise
  Gaps gaps_;                        ///< closed ones
  PassSums* sums_;                   ///< by pass, on the device
  const PassSums* found_ = nullptr;  ///< as of the last prediction
  std::vector<RankedBits> outliers_;
  RememberedWeights remembered_;
  std::vector<CodedPass> coded_;
};

}  // namespace

template <class T>
std::unique_ptr<PassEncoder> make_multilevel_encoder(DeviceContext& gpu, FrameMemory& memory,
                                                     const FrameCoding& coding,
                                                     const FrameInput<T>& frame) {
  return std::make_unique<MultilevelEncoder<T>>(gpu, memory, coding, frame);
}

template <class T>
std::uint64_t multilevel_cost(DeviceContext& gpu, FrameMemory& memory, const FrameCoding& coding,
                              const FrameInput<T>& frame) {
  MultilevelEncoder<T> encoder(gpu, memory, coding, frame);
  return encoder.cost(std::get<AnsParams>(coding.coder));
}

template std::unique_ptr<PassEncoder> make_multilevel_encoder(DeviceContext&, FrameMemory&,
                                                              const FrameCoding&,
                                                              const FrameInput<float>&);
template std::unique_ptr<PassEncoder> make_multilevel_encoder(DeviceContext&, FrameMemory&,
                                                              const FrameCoding&,
                                                              const FrameInput<double>&);
template std::uint64_t multilevel_cost(DeviceContext&, FrameMemory&, const FrameCoding&,
                                       const FrameInput<float>&);
template std::uint64_t multilevel_cost(DeviceContext&, FrameMemory&, const FrameCoding&,
                                       const FrameInput<double>&);

}  // namespace cuszi::gpu
