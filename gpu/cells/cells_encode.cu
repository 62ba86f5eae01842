#include <memory>
#include <tuple>

#include "gpu/cells/cells.cuh"
#include "gpu/cells/coding.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// What the host has to know of a coded frame before its sections can be written.
struct CodedSizes {
  std::uint64_t live[most_cell_passes];  ///< blocks with codes
  std::uint32_t code_segments[most_cell_passes];
  std::uint64_t classes_at[most_cell_passes];  ///< where the chains of classes of a pass begin
  std::uint64_t codes_at[most_cell_passes];
  std::uint64_t end;
  std::uint64_t patches[most_cell_passes];
  std::uint64_t first_anchor_word;
  std::uint64_t anchor_words;
  std::uint32_t has_overflown;
};

/// A thread block a frame. `sizes` may lie in page-locked memory.
template <class Frames>
__global__ void report_sizes(const __grid_constant__ Frames frames, const std::uint64_t* offsets,
                             std::uint32_t entries, const unsigned long long* patches,
                             PackedAnchors anchors, CodedSizes* sizes) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const ChainEncodeTask& task = frames.find(shared, unused);
  const CellsChains& chains = task.chains;
  offsets += std::uint64_t{blockIdx.y} * entries;
  anchors.offsets += std::uint64_t{blockIdx.y} * anchors.groups;
  sizes += blockIdx.y;
  const auto pass = static_cast<int>(threadIdx.x);
  if (pass == 0) {
    sizes->end = offsets[entries];
    sizes->first_anchor_word = anchors.offsets[0];
    sizes->anchor_words = anchors.offsets[anchors.groups] - anchors.offsets[0];
    sizes->has_overflown = *task.has_overflown;
  }
  if (pass >= chains.passes) return;
  const PassSegments& own = chains.segments[pass];
  sizes->live[pass] = chains.first_live(pass + 1) - chains.first_live(pass);
  sizes->code_segments[pass] = chains.code_segments(pass);
  sizes->classes_at[pass] = offsets[own.first];
  sizes->codes_at[pass] = offsets[own.first + own.of_classes];
  sizes->patches[pass] = patches[blockIdx.y * most_cell_passes + threadIdx.x];
}

/// The segments of all passes, with as many numbers as they take at most.
std::uint32_t number_segments(CellsChains& chains) {
  std::uint32_t next = 0;
  for (int pass = 0; pass < chains.passes; ++pass) {
    const std::uint64_t blocks = std::uint64_t{chains.tiles} * blocks_of_pass(chains.rank, pass);
    chains.segments[pass] = {
        next, static_cast<std::uint32_t>(class_segments(chains.rank, pass, chains.tiles)),
        static_cast<std::uint32_t>(code_segments(
            blocks, blocks_of_lane_in(chains.rank, pass, chains.tiles, fewest_blocks_of_lane)))};
    next += chains.segments[pass].of_classes + chains.segments[pass].of_codes;
  }
  return next;
}

/// Equal frames that are coded as cells. Arrays have one after the other.
template <class T>
class CellsEncoder {
 public:
  CellsEncoder(DeviceContext& gpu, std::vector<CellsInput<T>> frames)
      : gpu_(gpu),
        frames_(std::move(frames)),
        count_(static_cast<unsigned>(frames_.size())),
        rank_(frames_.front().params.rank),
        grid_(cell_grid(rank_, frames_.front().frame.extents,
                        frames_.front().frame.local != nullptr)),
        heads_(gpu.take_zeroed<CellsHead>(count_)) {
    CellsChains& chains = first_.chains;
    chains.rank = rank_;
    chains.passes = cell_passes(rank_);
    chains.tiles = grid_of(grid_.count());
    chains.grid = grid_;
    entries_ = number_segments(chains);
    predict();
    start_chains();
    code_chains(1);
  }

  /// Call it after the next sync().
  std::vector<CodedCells> finish() {
    const bool has_overflown = sizes_[0].has_overflown != 0;  // of any frame
    if (has_overflown) {
      code_chains(2);
      gpu_.sync();
    }
    return sections();
  }

 private:
  std::uint64_t tiles() const { return grid_.count(); }

  void predict() {
    const std::uint64_t blocks =
        ceil_div(count_of(frames_.front().frame.extents), RankedBits::block_points);
    const std::uint64_t words = blocks * RankedBits::block_words;
    const std::uint64_t numbers_of_frame = weight_numbers(rank_);
    auto* const anchors = gpu_.take<std::int32_t>(count_ * tiles());
    auto* const numbers = gpu_.take<ClassWeights<T>>(count_ * numbers_of_frame);
    auto* const patches = gpu_.take_zeroed<std::uint64_t>(count_ * words);
    CellsChains& chains = first_.chains;
    chains.coded = find_coded_points(gpu_, grid_, rank_);
    chains.classes = gpu_.take<std::uint8_t>(count_ * tiles() * tile_blocks);
    chains.codes = gpu_.take<std::int16_t>(count_ * tiles() * cell_codes);
    patch_counts_ = gpu_.take_zeroed<unsigned long long>(count_ * most_cell_passes);
    std::vector<PredictTask<T>> tasks;
    for (unsigned i = 0; i < count_; ++i) {
      const auto& [params, bound, frame] = frames_[i];
      const CellsQuantizer<T> quantizer(params.half_step, params.background, frame.min, frame.max,
                                        bound, frame.rules);
      LocalCellsQuantizers<T> local;
      if (frame.local != nullptr)
        local = local_quantizers(gpu_, frame.extents, *frame.local, quantizer);
      patches_.push_back({patches + i * words, gpu_.take<std::uint16_t>(words),
                          gpu_.take<std::uint64_t>(blocks + 1), blocks});
      tasks.push_back({grid_, quantizer, frame.rules, frame.values, params.half_step,
                       &heads_[i].weights, anchors + i * tiles(), numbers + i * numbers_of_frame,
                       chains.codes + i * tiles() * cell_codes,
                       chains.classes + i * tiles() * tile_blocks, chains.coded, patches_[i],
                       patch_counts_ + std::uint64_t{i} * most_cell_passes,
                       frame.missing_points != 0, certain_difference(quantizer), local});
    }
    const PredictTasks<T> all(gpu_, std::move(tasks));
    gpu_.streams().fork([&] {
      find_anchors(gpu_, rank_, all);
      anchors_ = pack_anchors(gpu_, grid_, anchors, count_);
    });
    fit_cell_weights(gpu_, rank_, all);
    number_weights(gpu_, rank_, heads_, count_, numbers);
    gpu_.streams().join();
    predict_cells(gpu_, rank_, all);
  }

  void start_chains() {
    CellsChains& chains = first_.chains;
    const LiveBlocks live = take_live_blocks(gpu_, chains.passes, chains.tiles, count_);
    chains.live = live.numbers;
    chains.live_before = live.before;
    for (int pass = 0; pass < chains.passes; ++pass)
      class_segments_ += chains.segments[pass].of_classes;
    const std::uint64_t entries = std::uint64_t{count_} * entries_;
    const EncoderTables tables = take_encoder_tables(gpu_, count_);
    first_.class_shares = tables.classes;
    first_.code_shares = tables.codes;
    first_.class_words = gpu_.take<std::uint16_t>(count_ * class_segments_ * class_segment_words);
    first_.states = gpu_.take<std::uint32_t>(entries * 32);
    first_.words = gpu_.take<LaneWords>(entries);
    first_.sizes = gpu_.take<std::uint32_t>(entries);
    offsets_ = gpu_.take<std::uint64_t>(entries + 1);
    make_tasks(1);
    list_live_blocks(gpu_, rank_, chains.passes, chains.tiles, count_, chains.classes, live);
    const SymbolCounts* const counts = count_symbols_of_cells(gpu_, tasks_);
    choose_tables(gpu_, counts, count_, heads_, tables);
  }

  /// Each code takes at most so many words.
  void make_tasks(std::uint32_t room) {
    const std::uint64_t entries = std::uint64_t{count_} * entries_;
    const std::uint64_t codes = count_ * tiles() * cell_codes;
    first_.room = room;
    first_.code_words =
        gpu_.take<std::uint16_t>(codes * room + (entries + 1) * spare_segment_words);
    first_.has_overflown = gpu_.take_zeroed<std::uint32_t>(1);
    std::vector<ChainEncodeTask> tasks(count_, first_);
    for (unsigned i = 0; i < count_; ++i) {
      const std::uint64_t before = std::uint64_t{i} * entries_;  // entries
      ChainEncodeTask& task = tasks[i];
      CellsChains& chains = task.chains;
      chains.blocks_of_lane = &heads_[i].blocks_of_lane;
      chains.classes += i * tiles() * tile_blocks;
      chains.codes += i * tiles() * cell_codes;
      chains.live_before += i * tiles() * static_cast<unsigned>(chains.passes);
      task.class_shares += i * class_shares_of_frame;
      task.code_shares += i * code_shares_of_frame;
      task.class_words += i * class_segments_ * class_segment_words;
      task.code_words += before * spare_segment_words;
      task.states += before * 32;
      task.words += before;
      task.sizes += before;
    }
    tasks_ = ChainEncodeTasks(gpu_, std::move(tasks));
  }

  void code_chains(std::uint32_t room) {
    if (room != first_.room) make_tasks(room);
    const std::uint64_t entries = std::uint64_t{count_} * entries_;
    check(cudaMemsetAsync(first_.sizes, 0, entries * sizeof *first_.sizes, gpu_.stream()),
          "clear memory");
    encode_chains(gpu_, tasks_);
    exclusive_sums(gpu_, first_.sizes, entries, offsets_);
    sizes_ = gpu_.take_pinned<CodedSizes>(count_);
    tasks_.visit([&]<class Frames>(const Frames& tasks) {
      report_sizes<Frames><<<dim3(1, count_), 32, 0, gpu_.stream()>>>(
          tasks, offsets_, entries_, patch_counts_, anchors_, sizes_);
    });
    check_launch("report_sizes");
    coded_heads_ = download(gpu_, heads_, count_);
  }

  std::vector<CodedCells> sections() {
    const CodedSizes& last = sizes_[count_ - 1];
    const ByteCount padded = anchor_bytes(anchors_, 0);
    auto* const anchors =
        gpu_.take<std::byte>(count_ * padded + 4 * (last.first_anchor_word + last.anchor_words));
    store_anchors(gpu_, anchors_, count_, anchors);
    auto* const chains = gpu_.take<std::byte>(last.end);
    store_chains(gpu_, first_, std::uint64_t{count_} * entries_, offsets_, chains);
    std::vector<CodedCells> coded(count_);
    write_heads(coded);
    for (unsigned i = 0; i < count_; ++i) {
      Sections& first = coded[i].passes.front().sections;
      const CodedSizes& sizes = sizes_[i];
      add_section(SectionId::anchors,
                  {anchors + i * padded + 4 * sizes.first_anchor_word,
                   anchor_bytes(anchors_, sizes.anchor_words)},
                  first);
      add_passes(i, chains, coded[i].passes);
    }
    return coded;
  }

  /// Adds the sections of heads.
  void write_heads(std::vector<CodedCells>& coded) {
    for_each_of_many(gpu_, count_, [&](std::size_t i) {
      coded[i].passes.resize(static_cast<std::size_t>(first_.chains.passes));
      coded[i].head = coded_heads_[i].write(rank_);
    });
    ByteCount all = 0;
    for (const CodedCells& one : coded) all += one.head.size();
    auto* const staged = gpu_.take_pinned<std::byte>(all);
    auto* const heads = gpu_.take<std::byte>(all);
    ByteCount at = 0;
    for (CodedCells& one : coded) {
      std::copy(one.head.begin(), one.head.end(), staged + at);
      add_section(SectionId::codebook, {heads + at, one.head.size()}, one.passes.front().sections);
      at += one.head.size();
    }
    copy_pinned(gpu_, heads, staged, all);
  }

  void add_passes(unsigned number, const std::byte* chains, std::vector<OwnCoded>& passes) {
    const CodedSizes& sizes = sizes_[number];
    const auto count = static_cast<unsigned>(first_.chains.passes);
    for (unsigned pass = 0; pass < count; ++pass) {
      OwnCoded& coded = passes[pass];
      const std::uint64_t end = pass + 1 < count ? sizes.classes_at[pass + 1] : sizes.end;
      if (sizes.live[pass] != 0) add_chains(number, pass, end, chains, coded.sections);
      coded.counts.patches = sizes.patches[pass];
      add_section(SectionId::patches,
                  list_patches(gpu_, rank_, frames_[number].frame, patches_[number],
                               static_cast<int>(pass), std::span(sizes.patches, count)),
                  coded.sections);
    }
  }

  void add_chains(unsigned number, unsigned pass, std::uint64_t end, const std::byte* chains,
                  Sections& out) const {
    const CodedSizes& sizes = sizes_[number];
    const PassSegments& own = first_.chains.segments[pass];
    const std::uint32_t* const index = first_.sizes + std::uint64_t{number} * entries_ + own.first;
    const std::uint64_t classes_at = sizes.classes_at[pass];
    const std::uint64_t codes_at = sizes.codes_at[pass];
    add_section(SectionId::index,
                std::as_bytes(std::span(index, own.of_classes + sizes.code_segments[pass])), out);
    add_section(SectionId::contexts, {chains + classes_at, codes_at - classes_at}, out);
    add_section(SectionId::codes, {chains + codes_at, end - codes_at}, out);
  }

  DeviceContext& gpu_;
  std::vector<CellsInput<T>> frames_;
  unsigned count_;
  int rank_;
  CellGrid grid_;
  CellsHead* heads_;  ///< on the device
  std::vector<RankedBits> patches_;
  unsigned long long* patch_counts_ = nullptr;
  PackedAnchors anchors_{};
  std::uint32_t entries_ = 0;  ///< segments of all passes of a frame, at most
  std::uint64_t class_segments_ = 0;
  ChainEncodeTask first_{};  ///< of the first frame
  ChainEncodeTasks tasks_;
  std::uint64_t* offsets_ = nullptr;  ///< of segments, in bytes
  CodedSizes* sizes_ = nullptr;
  const CellsHead* coded_heads_ = nullptr;
};

}  // namespace

template <class T>
std::function<std::vector<CodedCells>()> start_to_encode_cells(
    DeviceContext& gpu, std::span<const CellsInput<T>> frames) {
  struct Group {
    std::vector<std::size_t> numbers;
    std::shared_ptr<CellsEncoder<T>> encoder;
  };
  std::vector<Group> groups;
  for (auto& numbers : group_equal(frames.size(), [&](std::size_t i) {
         const auto& [params, bound, frame] = frames[i];
         return std::tuple(params.rank, frame.extents);
       })) {
    std::vector<CellsInput<T>> equal;
    for (const std::size_t i : numbers) equal.push_back(frames[i]);
    groups.push_back(
        {std::move(numbers), std::make_shared<CellsEncoder<T>>(gpu, std::move(equal))});
  }
  return [groups = std::move(groups), count = frames.size()] {
    std::vector<CodedCells> coded(count);
    for (const Group& group : groups) {
      std::vector<CodedCells> own = group.encoder->finish();
      for (std::size_t i = 0; i < own.size(); ++i) coded[group.numbers[i]] = std::move(own[i]);
    }
    return coded;
  };
}

template std::function<std::vector<CodedCells>()> start_to_encode_cells(
    DeviceContext&, std::span<const CellsInput<float>>);
template std::function<std::vector<CodedCells>()> start_to_encode_cells(
    DeviceContext&, std::span<const CellsInput<double>>);

}  // namespace cuszi::gpu
