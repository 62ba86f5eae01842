#include <cub/block/block_scan.cuh>

#include "gpu/cells/sections.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

static_assert(sizeof(CodedSizes) % 4 == 0);

constexpr unsigned place_threads = 1024;

/// Where the segments of a frame go, one after the other, and then its sections: a thread block a
/// frame. Sizes are reported in page-locked memory.
template <class Frames, class Rooms>
__global__ void __launch_bounds__(place_threads)
    place_segments_of(const __grid_constant__ Frames frames, const __grid_constant__ Rooms rooms,
                      std::uint32_t entries, std::uint64_t* offsets, SectionPlaces* places,
                      const unsigned long long* patches, PackedAnchors anchors,
                      CodedSizes* reported) {
  constexpr unsigned own = 4;  // entries of a thread at once
  using Scan = cub::BlockScan<std::uint64_t, place_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  __shared__ alignas(16) std::uint32_t shared_room[Rooms::shared_words];
  __shared__ CodedSizes sizes;
  unsigned unused;
  const ChainEncodeTask& task = frames.find(shared, unused);
  const SectionRoom& room = rooms.find(shared_room, unused);
  const CellsChains& chains = task.chains;
  offsets += std::uint64_t{blockIdx.y} * (entries + 1);
  std::uint64_t before = 0;
  for (std::uint32_t start = 0; start < entries; start += own * place_threads) {
    const std::uint32_t first = start + own * threadIdx.x;
    std::uint64_t sums[own];
    CUSZI_UNROLL
    for (unsigned i = 0; i < own; ++i) sums[i] = first + i < entries ? task.sizes[first + i] : 0;
    std::uint64_t all = 0;
    Scan(storage).ExclusiveSum(sums, sums, all);
    CUSZI_UNROLL
    for (unsigned i = 0; i < own; ++i)
      if (first + i < entries) offsets[first + i] = before + sums[i];
    before += all;
    __syncthreads();
  }
  const auto pass = static_cast<int>(threadIdx.x);
  if (pass == 0) {
    offsets[entries] = before;
    const std::uint64_t* const words = anchors.offsets + std::uint64_t{blockIdx.y} * anchors.groups;
    sizes.end = before;
    sizes.anchor_words = words[anchors.groups] - words[0];
    sizes.has_overflown = *task.has_overflown;
  }
  if (pass < most_cell_passes) sizes.has_codes[pass] = false;
  __syncthreads();
  if (pass < chains.passes) {
    const PassSegments& segments = chains.segments[pass];
    sizes.has_codes[pass] = chains.live_of(pass) != 0 || chains.list_bits[pass] != 0;
    sizes.list_bytes[pass] = list_bytes(chains.words_of_lists(pass), chains.class_lanes(pass));
    sizes.code_segments[pass] = chains.code_segments(pass);
    sizes.classes_at[pass] = offsets[segments.first];
    sizes.codes_at[pass] = offsets[segments.first + segments.of_classes];
    sizes.patches[pass] = patches[blockIdx.y * most_cell_passes + threadIdx.x];
  }
  __syncthreads();
  auto* const out = reinterpret_cast<std::uint32_t*>(reported + blockIdx.y);
  for (unsigned i = threadIdx.x; i < sizeof sizes / 4; i += place_threads)
    out[i] = reinterpret_cast<const std::uint32_t*>(&sizes)[i];
  if (pass != 0) return;
  const SectionPlaces found = places_in(room, chains, anchors, sizes);
  const bool is_stored = sizes.has_overflown == 0 && found.fit(room);
  places[blockIdx.y] = is_stored ? found : SectionPlaces{};
}

constexpr unsigned store_threads = 128;
constexpr unsigned store_warps = store_threads / 32;

/// A group of anchors by a warp: its width, and its words behind the widths.
__device__ void store_anchors(const PackedAnchors& anchors, std::uint32_t group, std::byte* out) {
  const std::uint32_t padded = (anchors.groups + 3) / 4 * 4;
  if (group >= padded) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t first = std::uint64_t{blockIdx.y} * anchors.groups;  // of the frame
  const std::uint8_t width = group < anchors.groups ? anchors.widths[first + group] : 0;
  if (lane == 0) out[group] = std::byte{width};
  auto* const words = reinterpret_cast<std::uint32_t*>(out + padded);
  if (lane < width)
    words[anchors.offsets[first + group] - anchors.offsets[first] + lane] =
        anchors.words[(first + group) * 32 + lane];
}

/// The words of a pass's lists that no lane carries, by the thread blocks of its classes.
__device__ void store_lists(const CellsChains& chains, int pass, const std::uint16_t* words,
                            const SectionPlaces& places, std::uint32_t block) {
  const auto count =
      static_cast<std::uint64_t>(places.codes[pass] - places.lists[pass]) / sizeof(std::uint32_t);
  words += chains.class_lanes(pass);
  auto* const out = reinterpret_cast<std::uint32_t*>(places.lists[pass]);
  const std::uint32_t step = chains.segments[pass].of_classes * store_threads;
  for (std::uint64_t i = block * store_threads + threadIdx.x; i < count; i += step)
    out[i] = words[2 * i] | std::uint32_t{words[2 * i + 1]} << 16;
}

/// Thread blocks along grid.x: one a segment, then one for a few groups of anchors, then one for
/// the head.
template <class Rooms>
__global__ void __launch_bounds__(store_threads)
    store_parts(const __grid_constant__ Rooms rooms, const __grid_constant__ ChainEncodeTask first,
                std::uint32_t entries, const std::uint64_t* offsets,
                const SectionPlaces* all_places, PackedAnchors anchors) {
  const SectionPlaces& places = all_places[blockIdx.y];
  if (places.anchors == nullptr) return;
  const unsigned block = blockIdx.x;
  if (block + 1 == gridDim.x) {
    __shared__ alignas(16) std::uint32_t shared[Rooms::shared_words];
    unsigned unused;
    const SectionRoom& room = rooms.find(shared, unused);
    for (ByteCount i = threadIdx.x; i < room.head_bytes; i += store_threads)
      places.head[i] = room.head[i];
    return;
  }
  if (block >= entries) {
    store_anchors(anchors, (block - entries) * store_warps + threadIdx.x / 32, places.anchors);
    return;
  }
  const std::uint64_t entry = std::uint64_t{blockIdx.y} * entries + block;
  const std::uint32_t size = first.sizes[entry];
  if (size == 0) return;
  int pass = 0;
  std::uint32_t in_pass = block;
  const PassSegments* const segments = first.chains.segments;
  find_pass(first.chains, in_pass, pass,
            [&](int p) { return segments[p].of_classes + segments[p].of_codes; });
  if (places.index[pass] == nullptr) return;
  offsets += std::uint64_t{blockIdx.y} * (entries + 1);
  if (threadIdx.x == 0) reinterpret_cast<std::uint32_t*>(places.index[pass])[in_pass] = size;
  const bool is_of_classes = in_pass < segments[pass].of_classes;
  if (is_of_classes) {
    const std::uint32_t* const lists =
        first.lists + (blockIdx.y * lists_of_frame(first.chains.tiles) +
                       lists_of_pass(first.chains.rank, pass, first.chains.tiles));
    store_lists(first.chains, pass, reinterpret_cast<const std::uint16_t*>(lists), places, in_pass);
  }
  const std::uint32_t begin =
      segments[pass].first + (is_of_classes ? 0 : segments[pass].of_classes);
  std::byte* const to = (is_of_classes ? places.classes[pass] : places.codes[pass]) +
                        (offsets[block] - offsets[begin]);
  store_segment(first.words[entry], first.heads + entry * most_head_words,
                reinterpret_cast<std::uint32_t*>(to));
}

}  // namespace

void store_sections(DeviceContext& gpu, const ChainEncodeTasks& frames,
                    const FrameTasks<SectionRoom>& rooms, std::uint32_t entries,
                    std::uint64_t* offsets, SectionPlaces* places,
                    const unsigned long long* patch_counts, const PackedAnchors& anchors,
                    CodedSizes* sizes) {
  const std::uint64_t of_anchors = ceil_div(std::uint64_t{anchors.groups} + 3, store_warps);
  const dim3 blocks(grid_of(entries + of_anchors + 1), rooms.count());
  rooms.visit([&]<class Rooms>(const Rooms& there) {
    frames.visit([&]<class Frames>(const Frames& tasks) {
      constexpr bool is_one = std::is_same_v<Rooms, OneFrame<SectionRoom>>;
      if constexpr (std::is_same_v<Frames, OneFrame<ChainEncodeTask>> == is_one) {
        place_segments_of<<<dim3(1, rooms.count()), place_threads, 0, gpu.stream()>>>(
            tasks, there, entries, offsets, places, patch_counts, anchors, sizes);
      }
    });
    check_launch("place_segments");
    store_parts<<<blocks, store_threads, 0, gpu.stream()>>>(there, frames.list().front(), entries,
                                                            offsets, places, anchors);
  });
  check_launch("store_parts");
}

}  // namespace cuszi::gpu
