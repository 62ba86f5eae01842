#include <cmath>
#include <memory>
#include <tuple>

#include "gpu/cells/cells.cuh"
#include "gpu/cells/sections.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

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
                        frames_.front().frame.local != nullptr)) {
    CellsChains& chains = first_.chains;
    chains.rank = rank_;
    chains.passes = cell_passes(rank_);
    chains.tiles = grid_of(grid_.count());
    chains.grid = grid_;
    entries_ = number_segments(chains);
    take_zeros();
    predict();
    start_chains();
    encode_chains(gpu_, tasks_);
    write_heads();
    store(rooms_in_codes());
  }

  /// The range of a frame that is not scanned, after the next sync().
  const SharedExtremes* found_range() const { return found_range_; }

  /// Call it after the next sync().
  std::vector<std::vector<OwnCoded>> finish() {
    const bool has_overflown = sizes_[0].has_overflown != 0;  // of any frame
    if (has_overflown) {
      make_tasks(2);
      const std::uint64_t entries = std::uint64_t{count_} * entries_;
      check(cudaMemsetAsync(first_.sizes, 0, entries * sizeof *first_.sizes, gpu_.stream()),
            "clear memory");
      encode_chains(gpu_, tasks_);
      store(rooms_in_codes());
      gpu_.sync();
    }
    return sections();
  }

 private:
  std::uint64_t tiles() const { return grid_.count(); }

  void take_zeros() {
    const ByteCount words = patch_blocks() * RankedBits::block_words;
    ZeroedArrays zeros;
    zeros.add(heads_, count_);
    zeros.add(patch_words_, count_ * words);
    zeros.add(patch_counts_, count_ * most_cell_passes);
    zeros.add(counts_, count_);
    zeros.add(tables_done_, count_);
    zeros.add(range_, 1);
    zeros.add(first_.sizes, std::uint64_t{count_} * entries_);
    zeros.add(first_.has_overflown, 1);
    zeros.add(first_.lists, count_ * lists_of_frame(tiles()));
    zeros.take(gpu_);
  }
  std::uint64_t patch_blocks() const {
    return ceil_div(count_of(frames_.front().frame.extents), RankedBits::block_points);
  }

  void predict() {
    CellsChains& chains = first_.chains;
    chains.classes = gpu_.take<std::uint8_t>(count_ * tiles() * tile_blocks);
    chains.codes = gpu_.take<std::int16_t>(count_ * tiles() * cell_codes);
    chains.coded = gpu_.take<CodedPoints>(1);
    auto* const anchors = gpu_.take<std::int32_t>(count_ * tiles());
    const PredictTasks<T> tasks = predict_tasks(anchors);
    gpu_.streams().mark();
    fit_cell_weights(gpu_, rank_, tasks);  // first, as it takes longest
    gpu_.streams().fork_since_mark([&] {
      find_anchors(gpu_, rank_, tasks);
      find_coded_points(gpu_, grid_, rank_, chains.coded);
    });
    gpu_.streams().join();
    predict_cells(gpu_, rank_, tasks);
    if (!frames_.front().is_scanned) found_range_ = download(gpu_, range_, 1);
    gpu_.streams().fork_since_mark([&] {  // joined with the counts
      anchors_ = pack_anchors(gpu_, grid_, anchors, count_);
      default_tables_ = upload_default_tables(gpu_);
    });
  }

  PredictTasks<T> predict_tasks(std::int32_t* anchors) {
    const std::uint64_t blocks = patch_blocks();
    const std::uint64_t words = blocks * RankedBits::block_words;
    const std::uint64_t numbers_of_frame = weight_numbers(rank_);
    auto* const numbers = gpu_.take<ClassWeights<T>>(count_ * numbers_of_frame);
    auto* const ranks = gpu_.take<std::uint16_t>(count_ * words);
    auto* const blocks_before = gpu_.take<std::uint64_t>(count_ * (blocks + 1));
    const CellsChains& chains = first_.chains;
    std::vector<PredictTask<T>> tasks;
    tasks.reserve(count_);
    patches_.reserve(count_);
    for (unsigned i = 0; i < count_; ++i) {
      const auto& [params, bound, frame, is_scanned] = frames_[i];
      const CellsQuantizer<T> quantizer(params, frame.min, frame.max, bound, frame.rules);
      LocalCellsQuantizers<T> local;
      if (frame.local != nullptr)
        local = local_quantizers(gpu_, frame.extents, *frame.local, quantizer);
      patches_.push_back(
          {patch_words_ + i * words, ranks + i * words, blocks_before + i * (blocks + 1), blocks});
      tasks.push_back({grid_, quantizer, frame.rules, frame.values, params.half_step,
                       &heads_[i].weights, anchors + i * tiles(), numbers + i * numbers_of_frame,
                       chains.codes + i * tiles() * cell_codes,
                       chains.classes + i * tiles() * tile_blocks, chains.coded, patches_[i],
                       patch_counts_ + std::uint64_t{i} * most_cell_passes,
                       frame.missing_points != 0, certain_difference(quantizer), local,
                       is_scanned ? nullptr : range_});
    }
    return PredictTasks<T>(gpu_, std::move(tasks));
  }

  void start_chains() {
    CellsChains& chains = first_.chains;
    const LiveBlocks live = take_live_blocks(gpu_, count_, chains);
    for (int pass = 0; pass < chains.passes; ++pass)
      class_segments_ += chains.segments[pass].of_classes;
    const std::uint64_t entries = std::uint64_t{count_} * entries_;
    const EncoderTables tables = take_encoder_tables(gpu_, count_);
    first_.class_shares = tables.classes;
    first_.code_shares = tables.codes;
    first_.class_words = gpu_.take<std::uint16_t>(count_ * class_segments_ * class_segment_words);
    first_.heads = gpu_.take<std::uint32_t>(entries * most_head_words);
    first_.words = gpu_.take<LaneWords>(entries);
    offsets_ = gpu_.take<std::uint64_t>(entries + count_);
    places_ = gpu_.take<SectionPlaces>(count_);
    make_tasks(1);
    gpu_.streams().mark();
    list_live_blocks(gpu_, count_, chains, live);
    gpu_.streams().fork_since_mark([&] { count_cell_classes(gpu_, tasks_, counts_); });
    gpu_.streams().join();  // or multiprocessors get unequal shares of the counting blocks
    count_cell_tokens(gpu_, tasks_, counts_);
    gpu_.streams().fork([&] { encode_lists(gpu_, tasks_); });
    choose_tables(gpu_, counts_, count_, default_tables_, tables_done_, heads_, tables);
    gpu_.streams().join();
    gpu_.streams().fork([&] {
      coded_heads_ = download(gpu_, heads_, count_);
      gpu_.streams().mark();
    });
  }

  /// Writes the heads as archives have them, while chains are coded.
  void write_heads() {
    gpu_.streams().wait_for_mark();
    std::vector<std::vector<std::byte>> heads(count_);
    for_each_of_many(gpu_, count_, [&](std::size_t i) { heads[i] = coded_heads_[i].write(rank_); });
    staged_heads_.resize(count_);
    ByteCount all = 0;
    for (const auto& head : heads) all += head.size();
    auto* at = gpu_.take_pinned<std::byte>(all);
    for (unsigned i = 0; i < count_; ++i) {
      staged_heads_[i] = {at, heads[i].size()};
      at = std::copy(heads[i].begin(), heads[i].end(), at);
    }
  }

  /// Each code takes at most so many words.
  void make_tasks(std::uint32_t room) {
    const std::uint64_t entries = std::uint64_t{count_} * entries_;
    const std::uint64_t codes_of_frame = tiles() * cell_codes;
    first_.room = room;
    first_.code_words = gpu_.take<std::uint16_t>(count_ * codes_of_frame * room +
                                                 (entries + 1) * spare_segment_words);
    std::vector<ChainEncodeTask> tasks(count_, first_);
    for (unsigned i = 0; i < count_; ++i) {
      const std::uint64_t before = std::uint64_t{i} * entries_;  // entries
      ChainEncodeTask& task = tasks[i];
      CellsChains& chains = task.chains;
      chains.blocks_of_lane = &heads_[i].blocks_of_lane;
      chains.classes += i * tiles() * tile_blocks;
      chains.codes += i * codes_of_frame;
      select_live_blocks(chains, i);
      task.class_shares += i * class_shares_of_frame;
      task.code_shares += i * code_shares_of_frame;
      task.lists += i * lists_of_frame(tiles());
      task.class_words += i * class_segments_ * class_segment_words;
      task.code_words += i * codes_of_frame * room + before * spare_segment_words;
      task.heads += before * most_head_words;
      task.words += before;
      task.sizes += before;
    }
    tasks_ = ChainEncodeTasks(gpu_, std::move(tasks));
  }

  /// The codes of frames are not needed once their chains are coded: sections may go there.
  std::vector<SectionRoom> rooms_in_codes() const {
    const ByteCount bytes = tiles() * cell_codes * sizeof *first_.chains.codes;
    return rooms_at(reinterpret_cast<std::byte*>(first_.chains.codes), bytes);
  }
  std::vector<SectionRoom> rooms_at(std::byte* memory, ByteCount bytes) const {
    std::vector<SectionRoom> rooms;
    for (unsigned i = 0; i < count_; ++i)
      rooms.push_back(
          {memory + i * bytes, bytes, staged_heads_[i].data(), staged_heads_[i].size()});
    return rooms;
  }
  void store(std::vector<SectionRoom> rooms) {
    rooms_ = {gpu_, std::move(rooms)};
    sizes_ = gpu_.take_pinned<CodedSizes>(count_);
    store_sections(gpu_, tasks_, rooms_, entries_, offsets_, places_, patch_counts_, anchors_,
                   sizes_);
  }

  std::vector<std::vector<OwnCoded>> sections() {
    std::vector<SectionPlaces> places = find_places();
    ByteCount largest = 0;
    bool fit = true;
    for (unsigned i = 0; i < count_; ++i) {
      const SectionRoom& room = rooms_.list()[i];
      fit = fit && places[i].fit(room);
      largest = std::max(largest, static_cast<ByteCount>(places[i].end - room.memory));
    }
    if (!fit) {
      const ByteCount bytes = ceil_div(largest, 4) * 4;
      store(rooms_at(gpu_.take<std::byte>(count_ * bytes), bytes));
      gpu_.sync();
      places = find_places();
    }
    std::vector<std::vector<OwnCoded>> coded(count_);
    for_each_of_many(gpu_, count_, [&](std::size_t i) {
      coded[i].resize(static_cast<std::size_t>(first_.chains.passes));
      add_sections(sizes_[i], places[i], staged_heads_[i], coded[i]);
    });
    for (unsigned i = 0; i < count_; ++i) add_patches(i, coded[i]);
    return coded;
  }
  std::vector<SectionPlaces> find_places() const {
    std::vector<SectionPlaces> places;
    for (unsigned i = 0; i < count_; ++i)
      places.push_back(places_in(rooms_.list()[i], first_.chains, anchors_, sizes_[i]));
    return places;
  }

  void add_sections(const CodedSizes& sizes, const SectionPlaces& places, Bytes head,
                    std::vector<OwnCoded>& passes) const {
    Sections& first = passes.front().sections;
    first.add({SectionId::codebook, {places.head, head.size()}, {}, head});
    add_section(SectionId::anchors, {places.anchors, anchor_bytes(anchors_, sizes.anchor_words)},
                first);
    for (int pass = 0; pass < first_.chains.passes; ++pass) {
      if (!sizes.has_codes[pass]) continue;
      Sections& own = passes[static_cast<std::size_t>(pass)].sections;
      const ByteCount classes = static_cast<ByteCount>(places.codes[pass] - places.classes[pass]);
      const ByteCount codes = end_of_chains(first_.chains, sizes, pass) - sizes.codes_at[pass];
      add_section(SectionId::index,
                  {places.index[pass], 4 * ByteCount{segments_of(first_.chains, sizes, pass)}},
                  own);
      add_section(SectionId::contexts, {places.classes[pass], classes}, own);
      add_section(SectionId::codes, {places.codes[pass], codes}, own);
    }
  }

  void add_patches(unsigned number, std::vector<OwnCoded>& passes) {
    const auto counts = std::span(sizes_[number].patches, passes.size());
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      passes[pass].counts.patches = counts[pass];
      add_section(SectionId::patches,
                  list_patches(gpu_, rank_, frames_[number].frame, patches_[number],
                               static_cast<int>(pass), counts),
                  passes[pass].sections);
    }
  }

  DeviceContext& gpu_;
  std::vector<CellsInput<T>> frames_;
  unsigned count_;
  int rank_;
  CellGrid grid_;
  CellsHead* heads_ = nullptr;  ///< on the device
  std::uint64_t* patch_words_ = nullptr;
  std::vector<RankedBits> patches_;
  unsigned long long* patch_counts_ = nullptr;
  SymbolCounts* counts_ = nullptr;
  unsigned* tables_done_ = nullptr;
  SharedExtremes* range_ = nullptr;
  const SharedExtremes* found_range_ = nullptr;
  const CellsTables* default_tables_ = nullptr;
  PackedAnchors anchors_{};
  std::uint32_t entries_ = 0;  ///< segments of all passes of a frame, at most
  std::uint64_t class_segments_ = 0;
  ChainEncodeTask first_{};  ///< of the first frame
  ChainEncodeTasks tasks_;
  std::uint64_t* offsets_ = nullptr;  ///< [frame]: of segments, in bytes, and all
  SectionPlaces* places_ = nullptr;   ///< [frame], on the device
  FrameTasks<SectionRoom> rooms_;
  CodedSizes* sizes_ = nullptr;
  const CellsHead* coded_heads_ = nullptr;
  std::vector<Bytes> staged_heads_;  ///< as archives have them, in page-locked memory
};

}  // namespace

template <class T>
std::function<std::vector<std::vector<OwnCoded>>()> start_to_encode_cells(
    DeviceContext& gpu, std::span<const CellsInput<T>> frames) {
  struct Group {
    std::vector<std::size_t> numbers;
    std::shared_ptr<CellsEncoder<T>> encoder;
  };
  std::vector<Group> groups;
  for (auto& numbers : group_equal(frames.size(), [&](std::size_t i) {
         const CellsInput<T>& input = frames[i];
         return std::tuple(input.params.rank, input.frame.extents);
       })) {
    std::vector<CellsInput<T>> equal;
    for (const std::size_t i : numbers) equal.push_back(frames[i]);
    groups.push_back(
        {std::move(numbers), std::make_shared<CellsEncoder<T>>(gpu, std::move(equal))});
  }
  return [groups = std::move(groups), count = frames.size()] {
    std::vector<std::vector<OwnCoded>> coded(count);
    for (const Group& group : groups) {
      std::vector<std::vector<OwnCoded>> own = group.encoder->finish();
      for (std::size_t i = 0; i < own.size(); ++i) coded[group.numbers[i]] = std::move(own[i]);
    }
    return coded;
  };
}

template <class T>
std::optional<RangedCells> encode_unscanned(DeviceContext& gpu, const CellsParams& params,
                                            double bound, const FrameInput<T>& frame) {
  CellsEncoder<T> encoder(gpu, {{params, bound, frame, false}});
  gpu.sync();
  const SharedExtremes& range = *encoder.found_range();
  if (!std::isfinite(range.min()) || !std::isfinite(range.max())) return std::nullopt;
  return RangedCells{std::move(encoder.finish().front()), range.min(), range.max()};
}

template std::optional<RangedCells> encode_unscanned(DeviceContext&, const CellsParams&, double,
                                                     const FrameInput<float>&);
template std::optional<RangedCells> encode_unscanned(DeviceContext&, const CellsParams&, double,
                                                     const FrameInput<double>&);
template std::function<std::vector<std::vector<OwnCoded>>()> start_to_encode_cells(
    DeviceContext&, std::span<const CellsInput<float>>);
template std::function<std::vector<std::vector<OwnCoded>>()> start_to_encode_cells(
    DeviceContext&, std::span<const CellsInput<double>>);

}  // namespace cuszi::gpu
