#include "core/thrifty.hpp"
#include "gpu/ans.cuh"
#include "gpu/energy_fit.cuh"
#include "gpu/hash.cuh"
#include "gpu/host_steps.hpp"
#include "gpu/multilevel_passes.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 256;
constexpr std::size_t all_contexts = 256;

/// Counts the codes of 0 and of +-1 in each context.
__global__ void count_rare_codes(const QuantCode* codes, const std::uint8_t* contexts,
                                 std::uint64_t count, std::uint32_t radius, RareCodes* counts) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += all) {
    const std::uint8_t magnitude = magnitude_of_code(codes[i], radius);
    if (magnitude >= 2) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&counts[contexts[i]][magnitude]), 1ULL);
  }
}

template <class T>
class MultilevelEncoder final : public PassEncoder {
 public:
  MultilevelEncoder(Work& work, FrameMemory& memory, const FrameCoding& coding,
                    const FrameInput<T>& frame)
      : work_(work),
        memory_(taken_back(memory)),
        coding_(coding),
        params_(std::get<MultilevelParams>(coding_.predictor)),
        input_(frame),
        frame_(work, memory, params_, frame.min, frame.max,
               memory.take<T>(count_of(frame.extents))),
        codes_(memory.take<QuantCode>(frame_.points())),
        contexts_(uses_contexts(coding.coder) || coding.predicts_by_contexts()
                      ? memory.take<std::uint8_t>(frame_.points())
                      : nullptr),
        outlier_counts_(work.take_zeroed<std::uint64_t>(passes())),
        outliers_(make_outlier_sets()),
        coded_(passes()) {}

  void predict(PassRange range) override {
    const PassRange passes = within(range);
    for (int number = passes.first; number < passes.end; ++number) {
      frame_.enter(number);
      quantise_pass(work_, frame_.view(number), task_of(number));
      if (coding_.predicts_by_contexts()) quantise_thriftily(number);
    }
    add_lattice_hash(passes);
    add_outliers(passes);
  }

  void fit_contexts(PassRange range) override {
    const PassRange passes = within(range);
    const auto samples = sample_energies(work_, frame_, passes, input_.missing, FitSample::full);
    for (int number = passes.first; number < passes.end; ++number) {
      const auto weights =
          choose(number, samples[static_cast<std::size_t>(number - passes.first)], remembered_);
      fill(number, weights);
      add(number, SectionId::weights, write_weights(weights));
    }
  }

  std::int64_t error_sum() override {
    return gpu::error_sum(work_, frame_.finest(), input_.values, input_.missing,
                          coding_.room.bound);
  }

  void encode() override {
    const auto* const ans = std::get_if<AnsParams>(&coding_.coder);
    if (ans != nullptr && input_.missing_points == 0) {
      encode_levels(*ans);
      return;
    }
    const std::vector<int> levels = level_of_pass(coding_.predictor);
    const int passes = frame_.passes();
    for (int first = 0, end = 0; first < passes; first = end) {
      const auto level = [&](int number) { return levels[static_cast<std::size_t>(number)]; };
      while (end < passes && level(end) == level(first)) ++end;
      encode_level({first, end});
    }
  }

  std::vector<CodedPass> finish() override { return coded_; }

 private:
  std::size_t passes() const { return frame_.plan().passes.size(); }
  PassRange within(PassRange range) const {
    return {range.first, std::min(range.end, frame_.passes())};
  }
  CodedPass& coded(int number) { return coded_[static_cast<std::size_t>(number)]; }
  QuantCode* codes(int number) const { return codes_ + frame_.start(number); }
  std::uint8_t* contexts(int number) const { return contexts_ + frame_.start(number); }

  /// The sets of all passes in one piece of memory that is cleared at once.
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
        cudaMemsetAsync(words, 0, blocks * RankedBits::block_words * sizeof *words, work_.stream()),
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

  QuantiseTask<T> task_of(int number) const {
    const Pass& pass = frame_.pass(number);
    const Quantizer<T> quantizer(params_.half_step_of(pass.level), coding_.room.bound, input_.min,
                                 input_.max, params_.radius, input_.fills);
    return {input_.values,
            input_.missing,
            input_.fills,
            quantizer,
            codes(number),
            outliers_[static_cast<std::size_t>(number)],
            outlier_counts_ + number,
            frame_.listed(number)};
  }

  /// Quantises the pass again, knowing how rare other codes than 0 are in each context.
  void quantise_thriftily(int number) {
    const PassRange pass{number, number + 1};
    const auto samples = sample_energies(work_, frame_, pass, input_.missing, FitSample::full);
    RememberedWeights remembered = remembered_;
    fill(number, choose(number, samples.front(), remembered));
    QuantiseTask<T> task = task_of(number);
    const std::vector<T> zones = zones_of(number);
    task.contexts = contexts(number);
    task.zones = work_.upload(zones.data(), zones.size());
    check(cudaMemsetAsync(task.outliers.words, 0,
                          task.outliers.blocks * RankedBits::block_words * sizeof(std::uint64_t),
                          work_.stream()),
          "clear memory");
    check(cudaMemsetAsync(task.outlier_count, 0, sizeof(std::uint64_t), work_.stream()),
          "clear memory");
    quantise_pass(work_, frame_.view(number), task);
  }

  /// Per context, how far from the prediction, in steps, nothing is coded.
  std::vector<T> zones_of(int number) {
    const std::uint64_t points = frame_.pass(number).points;
    auto* const counts = work_.take_zeroed<RareCodes>(all_contexts);
    const auto blocks = std::min<std::uint64_t>(ceil_div(points, threads), 132 * 8);
    count_rare_codes<<<static_cast<unsigned>(blocks), threads, 0, work_.stream()>>>(
        codes(number), contexts(number), points, params_.radius, counts);
    check_launch("count_rare_codes");
    const RareCodes* const on_host = work_.download(counts, all_contexts);
    work_.sync();
    std::vector<T> zones;
    for (std::size_t i = 0; i < all_contexts; ++i) {
      zones.push_back(static_cast<T>(thrifty_zone(on_host[i], coding_.room.slack)));
    }
    return zones;
  }

  std::vector<GroupWeights> choose(int number, std::span<const EnergySample> samples,
                                   RememberedWeights& remembered) const {
    std::vector<GroupWeights> weights;
    for_each_group(frame_.plan(), frame_.pass(number), [&](const PointClass& first) {
      EnergyWeights& last = remembered.of(first);
      weights.push_back(choose_weights(samples[first.group], last));
      if (weights.back().kind == WeightsKind::own) last = weights.back().weights;
    });
    return weights;
  }

  void fill(int number, const std::vector<GroupWeights>& weights) {
    fill_contexts(work_, frame_.view(number), work_.upload(weights.data(), weights.size()),
                  contexts(number));
  }

  void add_lattice_hash(PassRange range) {
    for (int number = range.first; number < range.end; ++number) {
      if (!frame_.follows_coarse_lattice(number)) continue;
      const std::uint64_t hash = block_hash(work_, frame_.coarse_values());
      ByteWriter bytes;
      bytes.put(hash);
      add(number, SectionId::lattice_hash, bytes.take());
    }
  }

  void add_outliers(PassRange range) {
    const auto count = static_cast<std::size_t>(range.end - range.first);
    const std::uint64_t* const counts = work_.download(outlier_counts_ + range.first, count);
    work_.sync();
    for (int number = range.first; number < range.end; ++number) {
      PassCounts& result = coded(number).counts;
      result.outliers = counts[number - range.first];
      add_section(SectionId::outliers,
                  list_outliers(work_, frame_.view(number), input_.values,
                                outliers_[static_cast<std::size_t>(number)], result.outliers),
                  coded(number).sections);
    }
  }

  void add(int number, SectionId id, const std::vector<std::byte>& bytes) {
    if (bytes.empty()) return;
    coded(number).sections.add(id, Bytes(work_.upload(bytes.data(), bytes.size()), bytes.size()));
  }

  /// Codes all levels of a frame without missing points at once.
  void encode_levels(const AnsParams& params) {
    const std::vector<int> level_of = level_of_pass(coding_.predictor);
    std::vector<LevelSymbols> levels;
    std::vector<int> first_passes;
    for (int number = 0; number < frame_.passes(); ++number) {
      const auto i = static_cast<std::size_t>(number);
      if (number == 0 || level_of[i] != level_of[i - 1]) {
        levels.emplace_back();
        first_passes.push_back(number);
      }
      const Pass& pass = frame_.pass(number);
      levels.back().push_back({codes(number),
                               contexts(number),
                               pass.points,
                               {pass.points, std::size_t{pass.groups} * contexts_per_group}});
    }
    const std::vector<AnsStream> streams = ans_encode(work_, params, levels);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      Sections& sections = coded(first_passes[i]).sections;
      add_section(SectionId::index, streams[i].index, sections);
      add_section(SectionId::codes, streams[i].codes, sections);
    }
  }

  /// What the host needs of a pass to code it.
  struct PassOnHost {
    std::vector<QuantCode> codes;
    std::vector<std::uint8_t> contexts;
    std::vector<std::uint8_t> missing;
    PassShape shape;
  };

  PassOnHost to_host(int number) {
    const Pass& pass = frame_.pass(number);
    PassOnHost host{std::vector<QuantCode>(pass.points),
                    std::vector<std::uint8_t>(uses_contexts(coding_.coder) ? pass.points : 0),
                    std::vector<std::uint8_t>(input_.missing_points != 0 ? pass.points : 0),
                    {pass.points, std::size_t{pass.groups} * contexts_per_group}};
    work_.copy(host.codes.data(), codes(number), host.codes.size());
    work_.copy(host.contexts.data(), contexts(number), host.contexts.size());
    if (!host.missing.empty()) {
      auto* const places = work_.take<std::uint8_t>(pass.points);
      find_missing_places(work_, frame_.view(number), input_.missing, places);
      work_.copy(host.missing.data(), places, pass.points);
    }
    return host;
  }

  void encode_level(PassRange range) {
    std::vector<PassOnHost> passes;
    for (int number = range.first; number < range.end; ++number) passes.push_back(to_host(number));
    work_.sync();
    std::vector<HostSymbols> symbols;
    for (PassOnHost& pass : passes) {
      symbols.push_back({pass.codes, pass.contexts, pass.missing, pass.shape});
    }
    int number = range.first;
    for (const auto& sections : encode_on_host(coding_.coder, coding_.tuning, symbols)) {
      for (const HostSection& section : sections) add(number, section.id, section.bytes);
      ++number;
    }
  }

  static FrameMemory& taken_back(FrameMemory& memory) {
    memory.reset();
    return memory;
  }

  Work& work_;
  FrameMemory& memory_;
  FrameCoding coding_;
  const MultilevelParams& params_;
  FrameInput<T> input_;
  LevelFrame<T> frame_;
  QuantCode* codes_;        ///< by pass and place
  std::uint8_t* contexts_;  ///< of the same
  std::uint64_t* outlier_counts_;
  std::vector<RankedBits> outliers_;
  RememberedWeights remembered_;
  std::vector<CodedPass> coded_;
};

}  // namespace

template <class T>
std::unique_ptr<PassEncoder> make_multilevel_encoder(Work& work, FrameMemory& memory,
                                                     const FrameCoding& coding,
                                                     const FrameInput<T>& frame) {
  return std::make_unique<MultilevelEncoder<T>>(work, memory, coding, frame);
}

template std::unique_ptr<PassEncoder> make_multilevel_encoder(Work&, FrameMemory&,
                                                              const FrameCoding&,
                                                              const FrameInput<float>&);
template std::unique_ptr<PassEncoder> make_multilevel_encoder(Work&, FrameMemory&,
                                                              const FrameCoding&,
                                                              const FrameInput<double>&);

}  // namespace cuszi::gpu
