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
  std::uint64_t anchor_words;
  std::uint32_t has_overflown;
};

__global__ void report_sizes(CellsChains chains, const std::uint64_t* offsets,
                             const unsigned long long* patches, const std::uint64_t* anchor_words,
                             const std::uint32_t* has_overflown, CodedSizes* sizes) {
  const auto pass = static_cast<int>(threadIdx.x);
  if (pass == 0) {
    const PassSegments& last = chains.segments[chains.passes - 1];
    sizes->end = offsets[last.first + last.of_classes + last.of_codes];
    sizes->anchor_words = *anchor_words;
    sizes->has_overflown = *has_overflown;
  }
  if (pass >= chains.passes) return;
  const PassSegments& own = chains.segments[pass];
  sizes->live[pass] = chains.first_live(pass + 1) - chains.first_live(pass);
  sizes->code_segments[pass] = chains.code_segments(pass);
  sizes->classes_at[pass] = offsets[own.first];
  sizes->codes_at[pass] = offsets[own.first + own.of_classes];
  sizes->patches[pass] = patches[pass];
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

/// A frame that is coded as cells.
template <class T>
class CellsEncoder {
 public:
  CellsEncoder(DeviceContext& gpu, const CellsParams& params, double bound,
               const FrameInput<T>& frame)
      : gpu_(gpu),
        params_(params),
        frame_(frame),
        grid_(cell_grid(params.rank, frame.extents)),
        quantizer_(params.half_step, params.background, levels_of(params.rank), frame.min,
                   frame.max, bound, frame.rules),
        head_(gpu.take_zeroed<CellsHead>(1)) {
    chains_.rank = params.rank;
    chains_.passes = cell_passes(params.rank);
    chains_.tiles = grid_of(grid_.count());
    chains_.grid = grid_;
    chains_.blocks_of_lane = &head_->blocks_of_lane;
    entries_ = number_segments(chains_);
  }

  std::vector<OwnCoded> encode() {
    predict();
    start_chains();
    for (const std::uint32_t room : {1U, 2U}) {
      code_chains(room);
      if (sizes_->has_overflown == 0) break;
    }
    return sections();
  }

 private:
  void predict() {
    const std::int32_t* anchors = nullptr;
    gpu_.streams().fork([&] {
      anchors = find_anchors(gpu_, grid_, params_.rank, quantizer_, frame_);
      anchors_ = pack_anchors(gpu_, grid_, anchors);
    });
    chains_.coded = find_coded_points(gpu_, grid_, params_.rank);
    fit_cell_weights(gpu_, params_, quantizer_, frame_, &head_->weights);
    chains_.classes = gpu_.take<std::uint8_t>(std::uint64_t{chains_.tiles} * tile_blocks);
    chains_.codes = gpu_.take<std::int16_t>(std::uint64_t{chains_.tiles} * cell_codes);
    patches_ = make_bits(gpu_, count_of(frame_.extents));
    patch_counts_ = gpu_.take_zeroed<unsigned long long>(most_cell_passes);
    gpu_.streams().join();
    predict_cells(gpu_, params_.rank,
                  PredictTask<T>{grid_, quantizer_, frame_.rules, frame_.values, anchors,
                                 numbers_of_weights<T>(gpu_, params_.rank, &head_->weights),
                                 chains_.codes, chains_.classes, chains_.coded, patches_,
                                 patch_counts_, frame_.missing_points != 0},
                  frame_.extents);
  }

  void start_chains() {
    const LiveBlocks live =
        list_live_blocks(gpu_, chains_.rank, chains_.passes, chains_.tiles, chains_.classes);
    chains_.live = live.numbers;
    chains_.live_before = live.before;
    const SymbolCounts* const counts = count_symbols_of_cells(gpu_, chains_);
    const EncoderTables tables = choose_tables(gpu_, counts, head_);
    std::uint64_t class_segments = 0;
    for (int pass = 0; pass < chains_.passes; ++pass)
      class_segments += chains_.segments[pass].of_classes;
    task_.chains = chains_;
    task_.class_shares = tables.classes;
    task_.code_shares = tables.codes;
    task_.class_words = gpu_.take<std::uint16_t>(class_segments * class_segment_words);
    task_.states = gpu_.take<std::uint32_t>(std::uint64_t{entries_} * 32);
    task_.words = gpu_.take<SegmentOutput>(entries_);
    task_.sizes = gpu_.take<std::uint32_t>(entries_);
    offsets_ = gpu_.take<std::uint64_t>(std::uint64_t{entries_} + 1);
  }

  /// Codes all chains, each code in at most so many words.
  void code_chains(std::uint32_t room) {
    task_.room = room;
    task_.code_words = gpu_.take<std::uint16_t>(
        code_words(std::uint64_t{chains_.tiles} * cell_codes, entries_, room));
    task_.has_overflown = gpu_.take_zeroed<std::uint32_t>(1);
    check(cudaMemsetAsync(task_.sizes, 0, entries_ * sizeof *task_.sizes, gpu_.stream()),
          "clear memory");
    encode_chains(gpu_, task_);
    exclusive_sums(gpu_, task_.sizes, entries_, offsets_);
    auto* const sizes = gpu_.take_zeroed<CodedSizes>(1);
    report_sizes<<<1, 32, 0, gpu_.stream()>>>(chains_, offsets_, patch_counts_,
                                              anchors_.offsets + anchors_.groups,
                                              task_.has_overflown, sizes);
    check_launch("report_sizes");
    CopyList downloads;
    sizes_ = download(gpu_, sizes, 1, downloads);
    coded_head_ = download(gpu_, head_, 1, downloads);
    downloads.run(gpu_.stream());
    gpu_.sync();
  }

  std::vector<OwnCoded> sections() {
    std::vector<OwnCoded> passes(static_cast<std::size_t>(chains_.passes));
    const ByteCount anchor_bytes = ceil_div(anchors_.groups, 4) * 4 + 4 * sizes_->anchor_words;
    auto* const anchors = gpu_.take<std::byte>(anchor_bytes);
    store_anchors(gpu_, anchors_, anchors);
    auto* const chains = gpu_.take<std::byte>(sizes_->end);
    store_chains(gpu_, task_, entries_, offsets_, chains);
    const std::vector<std::byte> head = coded_head_->write(params_.rank);
    add_section(SectionId::codebook, {upload(gpu_, head.data(), head.size()), head.size()},
                passes.front().sections);
    add_section(SectionId::anchors, {anchors, anchor_bytes}, passes.front().sections);
    for (int pass = 0; pass < chains_.passes; ++pass) {
      OwnCoded& coded = passes[static_cast<std::size_t>(pass)];
      if (sizes_->live[pass] != 0) add_chains(pass, chains, coded.sections);
      coded.counts.patches = sizes_->patches[pass];
      add_section(SectionId::patches,
                  list_patches(gpu_, params_.rank, frame_, patches_, pass,
                               std::span(sizes_->patches, static_cast<unsigned>(chains_.passes))),
                  coded.sections);
    }
    return passes;
  }

  void add_chains(int pass, const std::byte* chains, Sections& out) const {
    const PassSegments& own = chains_.segments[pass];
    const std::uint64_t end =
        pass + 1 < chains_.passes ? sizes_->classes_at[pass + 1] : sizes_->end;
    const std::uint64_t classes_at = sizes_->classes_at[pass];
    const std::uint64_t codes_at = sizes_->codes_at[pass];
    add_section(SectionId::index,
                std::as_bytes(std::span(task_.sizes + own.first,
                                        own.of_classes + sizes_->code_segments[pass])),
                out);
    add_section(SectionId::contexts, {chains + classes_at, codes_at - classes_at}, out);
    add_section(SectionId::codes, {chains + codes_at, end - codes_at}, out);
  }

  static int levels_of(int rank) {
    return with_cell_rank(rank, [](auto shape) { return decltype(shape)::levels; });
  }

  DeviceContext& gpu_;
  CellsParams params_;
  FrameInput<T> frame_;
  CellGrid grid_;
  CellsQuantizer<T> quantizer_;
  CellsHead* head_;  ///< on the device
  CellsChains chains_{};
  std::uint32_t entries_ = 0;  ///< segments of all passes, at most
  RankedBits patches_;
  unsigned long long* patch_counts_ = nullptr;
  PackedAnchors anchors_{};
  ChainEncodeTask task_{};
  std::uint64_t* offsets_ = nullptr;  ///< of segments, in bytes
  const CodedSizes* sizes_ = nullptr;
  const CellsHead* coded_head_ = nullptr;
};

}  // namespace

template <class T>
std::vector<OwnCoded> encode_values(DeviceContext& gpu, const CellsParams& params, double bound,
                                    const FrameInput<T>& frame) {
  return CellsEncoder<T>(gpu, params, bound, frame).encode();
}

template std::vector<OwnCoded> encode_values(DeviceContext&, const CellsParams&, double,
                                             const FrameInput<float>&);
template std::vector<OwnCoded> encode_values(DeviceContext&, const CellsParams&, double,
                                             const FrameInput<double>&);

}  // namespace cuszi::gpu
