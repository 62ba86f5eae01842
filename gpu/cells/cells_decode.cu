#include <cub/block/block_scan.cuh>
#include <optional>
#include <tuple>

#include "gpu/cells/cells.cuh"
#include "gpu/cells/coding.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned index_threads = 1024;

/// The sizes of a frame's segments and their sums before each: a thread block a frame.
template <class Frames>
__global__ void __launch_bounds__(index_threads)
    read_indices(const __grid_constant__ Frames frames) {
  using Scan = cub::BlockScan<std::uint64_t, index_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const ChainDecodeTask& task = frames.find(shared, unused);
  const CellsChains& chains = task.chains;
  const auto segments_of = [&](int pass) {
    return chains.segments[pass].of_classes + chains.segments[pass].of_codes;
  };
  std::uint32_t entries = 0;
  for (int pass = 0; pass < chains.passes; ++pass) entries += segments_of(pass);
  std::uint64_t before = 0;
  for (std::uint32_t start = 0; start < entries; start += index_threads) {
    const std::uint32_t entry = start + threadIdx.x;
    std::uint32_t in_pass = entry;
    int pass = 0;
    std::uint32_t size = 0;
    if (find_pass(chains, in_pass, pass, segments_of)) {
      const std::byte* const own = task.bytes[pass].index + 4 * std::uint64_t{in_pass};
      size = static_cast<std::uint32_t>(get_bytes(own, 4));
      task.sizes[entry] = size;
    }
    std::uint64_t sum = size;
    std::uint64_t all = 0;
    Scan(storage).ExclusiveSum(sum, sum, all);
    if (entry < entries) task.offsets[entry] = before + sum;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) task.offsets[entries] = before;
}

/// A frame whose head the host has read.
template <class T>
struct PlannedCells {
  CellsOutput<T> output;
  CellsPlan plan;
  AnchorSection anchors;
};

/// Equal frames of cells that are restored. Arrays have one after the other.
template <class T>
class CellsDecoder {
 public:
  CellsDecoder(DeviceContext& gpu, const std::vector<const PlannedCells<T>*>& frames)
      : gpu_(gpu),
        frames_(frames),
        count_(static_cast<unsigned>(frames.size())),
        rank_(frames.front()->output.params.rank),
        grid_(cell_grid(rank_, frames.front()->output.frame.whole,
                        frames.front()->output.frame.local != nullptr)) {
    first_.rank = rank_;
    first_.passes = static_cast<int>(frames.front()->output.passes.size());
    first_.tiles = grid_of(grid_.count());
    first_.grid = grid_;
  }

  void decode() {
    gpu_.streams().mark();
    auto* const staged = gpu_.take_pinned<CellsHead>(count_);
    for_each_of_many(gpu_, count_, [&](std::size_t i) { staged[i] = frames_[i]->plan.head; });
    auto* const heads = gpu_.take<CellsHead>(count_);
    copy_pinned(gpu_, heads, staged, count_);
    first_.codes = gpu_.take<std::int16_t>(count_ * tiles() * cell_codes);
    first_.coded = gpu_.take<CodedPoints>(1);
    live_ = take_live_blocks(gpu_, count_, first_);
    const ChainDecodeTasks chains = chain_tasks(heads);
    decode_classes(gpu_, chains);  // first, as what is beside it takes less time
    const std::int32_t* anchors = nullptr;
    gpu_.streams().fork_since_mark([&] {
      find_coded_points(gpu_, grid_, rank_, first_.coded);
      anchors = start_anchors();
    });
    gpu_.streams().join();
    list_live_blocks(gpu_, count_, first_, live_);
    gpu_.streams().fork([&] { decode_lists(gpu_, chains); });
    decode_codes(gpu_, chains);
    gpu_.streams().join();
    restore(heads, anchors);
  }

 private:
  std::uint64_t tiles() const { return grid_.count(); }

  std::int32_t* start_anchors() {
    std::vector<AnchorSection> sections;
    for (const PlannedCells<T>* frame : frames_) sections.push_back(frame->anchors);
    return unpack_anchors(gpu_, grid_, FrameTasks<AnchorSection>(gpu_, std::move(sections)));
  }

  /// Starts to read the indices, too.
  ChainDecodeTasks chain_tasks(const CellsHead* heads) {
    std::vector<std::uint64_t> before{0};  // segments
    for (const PlannedCells<T>* frame : frames_)
      before.push_back(before.back() + frame->plan.segments());
    const std::uint64_t segments = before.back();
    std::uint32_t* done = nullptr;
    std::uint32_t* next_blocks = nullptr;
    ZeroedArrays zeros;
    zeros.add(first_.classes, count_ * tiles() * tile_blocks);
    zeros.add(done, segments);
    zeros.add(next_blocks, count_);
    zeros.take(gpu_);
    auto* const sizes = gpu_.take<std::uint32_t>(segments);
    auto* const offsets = gpu_.take<std::uint64_t>(segments + count_);
    auto* const carried = gpu_.take<std::uint16_t>(32 * segments);
    std::vector<ChainDecodeTask> list;
    for (unsigned i = 0; i < count_; ++i) {
      ChainDecodeTask& task = list.emplace_back(task_of(i, heads[i]));
      task.sizes = sizes + before[i];
      task.offsets = offsets + before[i] + i;
      task.done = done + before[i];
      task.carried = carried + 32 * before[i];
      task.next_block = next_blocks + i;
    }
    ChainDecodeTasks tasks(gpu_, std::move(list));
    tasks.visit([&]<class Frames>(const Frames& frames) {
      read_indices<Frames><<<dim3(1, count_), index_threads, 0, gpu_.stream()>>>(frames);
    });
    check_launch("read_indices");
    return tasks;
  }

  /// Without what the frames share arrays for.
  ChainDecodeTask task_of(unsigned number, const CellsHead& head) const {
    const PlannedCells<T>& frame = *frames_[number];
    ChainDecodeTask task{};
    CellsChains& chains = task.chains;
    chains = first_;
    chains.blocks_of_lane = &head.blocks_of_lane;
    chains.classes += number * tiles() * tile_blocks;
    chains.codes += number * tiles() * cell_codes;
    select_live_blocks(chains, number);
    chains.flaws = frame.output.flaws;
    std::uint32_t next = 0;  // segment
    for (int pass = 0; pass < chains.passes; ++pass) {
      const Sections& sections = frame.output.passes[static_cast<std::size_t>(pass)];
      const Bytes classes = sections.find(SectionId::contexts);
      const Bytes codes = sections.find(SectionId::codes);
      const Bytes index = sections.find(SectionId::index);
      chains.segments[pass] = {next, frame.plan.of_classes[pass], frame.plan.of_codes[pass]};
      task.bytes[pass] = {index.data(), classes.data(), classes.size(), codes.data(), codes.size()};
      next += frame.plan.of_classes[pass] + frame.plan.of_codes[pass];
    }
    task.tables = &head.tables;
    return task;
  }

  void restore(const CellsHead* heads, const std::int32_t* anchors) const {
    const std::uint64_t numbers_of_frame = weight_numbers(rank_);
    auto* const numbers = gpu_.take<ClassWeights<T>>(count_ * numbers_of_frame);
    number_weights(gpu_, rank_, heads, count_, numbers);
    std::vector<RestoreCellsTask<T>> tasks;
    for (unsigned i = 0; i < count_; ++i) {
      const CellsParams& params = frames_[i]->output.params;
      const FrameOutput<T>& frame = frames_[i]->output.frame;
      const Extents3 extents = extents_at_stride(frame.whole, frame.stride);
      const CellsQuantizer<T> quantizer(params, frame.min, frame.max);
      LocalCellsQuantizers<T> local;
      if (frame.local != nullptr)
        local = local_quantizers(gpu_, frame.whole, *frame.local, quantizer);
      tasks.push_back({grid_,
                       quantizer,
                       anchors + i * tiles(),
                       numbers + i * numbers_of_frame,
                       first_.codes + i * tiles() * cell_codes,
                       live_.masks + i * tiles(),
                       local,
                       static_cast<int>(frame.stride),
                       {extents[0], extents[1], extents[2]},
                       frame.values});
    }
    restore_cells(gpu_, rank_, FrameTasks<RestoreCellsTask<T>>(gpu_, std::move(tasks)));
  }

  DeviceContext& gpu_;
  const std::vector<const PlannedCells<T>*>& frames_;
  unsigned count_;
  int rank_;
  CellGrid grid_;
  CellsChains first_{};  ///< of the first frame
  LiveBlocks live_{};
};

template <class T>
FrameOutput<T> at_stride(const FrameOutput<T>& frame) {
  FrameOutput<T> points = frame;
  points.extents = extents_at_stride(frame.whole, frame.stride);
  return points;
}

/// Calls f(frame number), and refused() if it throws an ArchiveError.
template <class F>
void for_each_good(std::size_t count,
                   const std::function<void(std::size_t, const ArchiveError&)>& refused,
                   const F& f) {
  for (std::size_t i = 0; i < count; ++i) {
    try {
      f(i);
    } catch (const ArchiveError& error) {
      refused(i, error);
    }
  }
}

}  // namespace

CellsPlan::CellsPlan(const CellsParams& params, std::uint64_t tiles,
                     std::span<const Sections> passes, Bytes codebook)
    : head(CellsHead::read(codebook, params.rank)) {
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const auto pass = static_cast<int>(i);
    const ByteCount index = passes[i].find(SectionId::index).size();
    const bool has_codes =
        !passes[i].find(SectionId::contexts).empty() || !passes[i].find(SectionId::codes).empty();
    const std::uint64_t classes = index == 0 ? 0 : class_segments(params.rank, pass, tiles);
    const std::uint64_t most =
        code_segments(tiles * blocks_of_pass(params.rank, pass),
                      blocks_of_lane_in(params.rank, pass, tiles, fewest_blocks_of_lane));
    const std::uint64_t all = index / 4;
    if ((index == 0 && has_codes) || index % 4 != 0 || all < classes || all - classes > most) {
      throw ArchiveError("the index of a pass of `cells` does not fit its tiles");
    }
    of_classes[pass] = static_cast<std::uint32_t>(classes);
    of_codes[pass] = static_cast<std::uint32_t>(all - classes);
  }
}

template <class T>
void start_to_decode_cells(DeviceContext& gpu, std::span<const CellsOutput<T>> frames,
                           const std::function<void(std::size_t, const ArchiveError&)>& refused) {
  if (frames.empty()) return;
  std::vector<PendingSparse> patches;
  std::vector<Bytes> books;
  patches.reserve(frames.size());
  CopyList downloads;
  bool waits = false;
  for (const CellsOutput<T>& frame : frames) {
    std::vector<Bytes> lists;
    for (const Sections& sections : frame.passes)
      lists.push_back(sections.find(SectionId::patches));
    patches.emplace_back(gpu, lists, count_of(frame.frame.whole));
    const Bytes book = frame.passes.front().find(SectionId::codebook);
    Bytes& known = books.emplace_back(frame.codebook);
    if (known.empty()) known = {download(gpu, book.data(), book.size(), downloads), book.size()};
    waits |= patches.back().any() || frame.codebook.empty();
  }
  gpu.flaws();  // before what sets them beside
  if (waits) {
    downloads.run(gpu.stream());
    gpu.sync();
  }
  std::vector<std::optional<PlannedCells<T>>> planned(frames.size());
  std::vector<std::optional<ArchiveError>> errors(frames.size());
  for_each_of_many(gpu, frames.size(), [&](std::size_t i) {
    const CellsOutput<T>& frame = frames[i];
    const CellGrid grid = cell_grid(frame.params.rank, frame.frame.whole);
    try {
      planned[i].emplace(PlannedCells<T>{
          frame, CellsPlan(frame.params, grid.count(), frame.passes, books[i]),
          AnchorSection(grid, frame.passes.front().at(SectionId::anchors), frame.flaws)});
    } catch (const ArchiveError& error) {
      errors[i] = error;
    }
  });
  for_each_good(frames.size(), refused, [&](std::size_t i) {
    if (errors[i]) throw *errors[i];
  });
  using Key = std::tuple<int, Extents3, std::uint64_t, std::size_t, bool>;
  for (const auto& numbers : group_equal(frames.size(), [&](std::size_t i) {
         const FrameOutput<T>& frame = frames[i].frame;
         return Key(frames[i].params.rank, frame.whole, frame.stride, frames[i].passes.size(),
                    allows_vectors(frame.whole, frame.values));
       })) {
    std::vector<const PlannedCells<T>*> equal;
    for (const std::size_t i : numbers)
      if (planned[i]) equal.push_back(&*planned[i]);
    if (!equal.empty()) CellsDecoder<T>(gpu, equal).decode();
  }
  for_each_good(frames.size(), refused, [&](std::size_t i) {
    if (!planned[i]) return;
    for (const SparseView& view : patches[i].unpack())
      put_patches(gpu, at_stride(frames[i].frame), view);
  });
}

template void start_to_decode_cells(DeviceContext&, std::span<const CellsOutput<float>>,
                                    const std::function<void(std::size_t, const ArchiveError&)>&);
template void start_to_decode_cells(DeviceContext&, std::span<const CellsOutput<double>>,
                                    const std::function<void(std::size_t, const ArchiveError&)>&);

}  // namespace cuszi::gpu
