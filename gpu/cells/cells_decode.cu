#include "gpu/cells/cells.cuh"
#include "gpu/cells/coding.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// The indices of all passes, which may begin at any address.
struct SegmentIndices {
  const std::byte* of_pass[most_cell_passes];
};

__global__ void __launch_bounds__(ItemPolicy::threads)
    read_indices(CellsChains chains, SegmentIndices indices, std::uint32_t* sizes) {
  auto entry = static_cast<std::uint32_t>(ItemPolicy::first());
  int pass = 0;
  std::uint32_t in_pass = entry;
  const bool exists = find_pass(chains, in_pass, pass, [&](int p) {
    return chains.segments[p].of_classes + chains.segments[p].of_codes;
  });
  if (!exists) return;
  sizes[entry] =
      static_cast<std::uint32_t>(get_bytes(indices.of_pass[pass] + 4 * std::uint64_t{in_pass}, 4));
}

/// A frame of cells that is restored.
template <class T>
class CellsDecoder {
 public:
  CellsDecoder(DeviceContext& gpu, const CellsParams& params, std::span<const Sections> passes,
               const FrameOutput<T>& frame)
      : gpu_(gpu),
        params_(params),
        passes_(passes),
        frame_(frame),
        grid_(cell_grid(params.rank, frame.whole)) {
    frame_.extents = extents_at_stride(frame.whole, frame.stride);
    task_.chains.rank = params.rank;
    task_.chains.passes = static_cast<int>(passes.size());
    task_.chains.tiles = grid_of(grid_.count());
    task_.chains.grid = grid_;
    task_.chains.flaws = gpu.flaws();
  }

  void decode() {
    const PendingSparse patches = start_patches();
    const CellsHead* const head = bring_head();
    number_segments();
    const std::int32_t* anchors = nullptr;
    gpu_.streams().fork(
        [&] { anchors = unpack_anchors(gpu_, grid_, passes_.front().at(SectionId::anchors)); });
    decode_chains(head);
    gpu_.streams().join();
    restore(head, anchors);
    for (const SparseView& view : patches.unpack()) put_patches(gpu_, frame_, view);
  }

 private:
  PendingSparse start_patches() const {
    std::vector<Bytes> lists;
    for (const Sections& sections : passes_) lists.push_back(sections.find(SectionId::patches));
    return PendingSparse(gpu_, lists, count_of(frame_.whole));
  }

  /// Reads the head by the host, which waits.
  const CellsHead* bring_head() const {
    const Bytes section = passes_.front().at(SectionId::codebook);
    const Bytes bytes(download(gpu_, section.data(), section.size()), section.size());
    gpu_.sync();
    const CellsHead head = CellsHead::read(bytes, params_.rank);
    return upload(gpu_, &head, 1);
  }

  void number_segments() {
    CellsChains& chains = task_.chains;
    for (int pass = 0; pass < chains.passes; ++pass) {
      const Sections& sections = passes_[static_cast<std::size_t>(pass)];
      const Bytes index = sections.find(SectionId::index);
      const Bytes classes = sections.find(SectionId::contexts);
      const Bytes codes = sections.find(SectionId::codes);
      const std::uint64_t of_classes =
          index.empty() ? 0 : class_segments(chains.rank, pass, chains.tiles);
      const std::uint64_t most =
          code_segments(std::uint64_t{chains.tiles} * blocks_of_pass(chains.rank, pass),
                        blocks_of_lane_in(chains.rank, pass, chains.tiles, fewest_blocks_of_lane));
      const std::uint64_t all = index.size() / 4;
      const bool lacks_index = index.empty() && (!classes.empty() || !codes.empty());
      if (lacks_index || index.size() % 4 != 0 || all < of_classes || all - of_classes > most) {
        throw ArchiveError("the index of a pass of `cells` does not fit its tiles");
      }
      chains.segments[pass] = {entries_, static_cast<std::uint32_t>(of_classes),
                               static_cast<std::uint32_t>(all - of_classes)};
      task_.bytes[pass] = {classes.data(), classes.size(), codes.data(), codes.size()};
      indices_.of_pass[pass] = index.data();
      entries_ += static_cast<std::uint32_t>(all);
    }
  }

  void decode_chains(const CellsHead* head) {
    CellsChains& chains = task_.chains;
    chains.blocks_of_lane = &head->blocks_of_lane;
    chains.coded = find_coded_points(gpu_, grid_, chains.rank);
    chains.classes = gpu_.take_zeroed<std::uint8_t>(std::uint64_t{chains.tiles} * tile_blocks);
    chains.codes = gpu_.take<std::int16_t>(std::uint64_t{chains.tiles} * cell_codes);
    auto* const sizes = gpu_.take<std::uint32_t>(entries_);
    auto* const offsets = gpu_.take<std::uint64_t>(std::uint64_t{entries_} + 1);
    if (entries_ != 0) {
      launch_items(gpu_, "read_indices", entries_, read_indices, chains, indices_, sizes);
      exclusive_sums(gpu_, sizes, entries_, offsets);
    }
    task_.sizes = sizes;
    task_.offsets = offsets;
    const DecoderTables tables = fill_tables(gpu_, &head->tables);
    task_.class_symbols = tables.class_symbols;
    task_.class_shares = tables.class_shares;
    task_.code_symbols = tables.code_symbols;
    task_.code_shares = tables.code_shares;
    decode_classes(gpu_, task_);
    live_ = list_live_blocks(gpu_, chains.rank, chains.passes, chains.tiles, chains.classes);
    chains.live = live_.numbers;
    chains.live_before = live_.before;
    decode_codes(gpu_, task_);
  }

  void restore(const CellsHead* head, const std::int32_t* anchors) const {
    const int levels =
        with_cell_rank(params_.rank, [](auto shape) { return decltype(shape)::levels; });
    RestoreCellsTask<T> task{
        grid_,
        CellsQuantizer<T>(params_.half_step, params_.background, levels, frame_.min, frame_.max),
        anchors,
        numbers_of_weights<T>(gpu_, params_.rank, &head->weights),
        task_.chains.codes,
        live_.masks,
        static_cast<int>(frame_.stride),
        {frame_.extents[0], frame_.extents[1], frame_.extents[2]},
        frame_.values};
    restore_cells(gpu_, params_.rank, task, frame_.whole);
  }

  DeviceContext& gpu_;
  CellsParams params_;
  std::span<const Sections> passes_;
  FrameOutput<T> frame_;
  CellGrid grid_;
  ChainDecodeTask task_{};
  SegmentIndices indices_{};
  std::uint32_t entries_ = 0;  ///< segments of all passes
  LiveBlocks live_{};
};

}  // namespace

template <class T>
void decode_values(DeviceContext& gpu, const CellsParams& params, std::span<const Sections> passes,
                   const FrameOutput<T>& frame) {
  CellsDecoder<T>(gpu, params, passes, frame).decode();
}

template void decode_values(DeviceContext&, const CellsParams&, std::span<const Sections>,
                            const FrameOutput<float>&);
template void decode_values(DeviceContext&, const CellsParams&, std::span<const Sections>,
                            const FrameOutput<double>&);

}  // namespace cuszi::gpu
