#include "gpu/cells/coding.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned list_threads = 256;
constexpr unsigned tiles_of_block = list_threads / 32;

/// The blocks 2 l and 2 l + 1 of a tile, of lane l.
struct BlockPair {
  std::uint32_t kinds[2];
  std::uint32_t bits[2];  ///< of their lists; 0 without one
  std::uint32_t before;   ///< bits of the lists of blocks before

  /// By all lanes of a warp.
  __device__ BlockPair(const std::uint8_t* classes, std::uint64_t sparse) {
    const unsigned lane = threadIdx.x % 32;
    const auto own = reinterpret_cast<const uchar2*>(classes)[lane];
    kinds[0] = own.x;
    kinds[1] = own.y;
    CUSZI_UNROLL
    for (unsigned i = 0; i < 2; ++i)
      bits[i] = (sparse >> (2 * lane + i) & 1) != 0 ? list_bits(kinds[i]) : 0;
    before = bits[0] + bits[1];
    CUSZI_UNROLL
    for (unsigned reach = 1; reach < 32; reach *= 2) {
      const std::uint32_t lower = __shfl_up_sync(~0U, before, reach);
      if (lane >= reach) before += lower;
    }
    before -= bits[0] + bits[1];
  }
  __device__ std::uint32_t before_block(unsigned i) const {
    return i == 0 ? before : before + bits[0];
  }
  /// The bits before the first block of a pass, which may differ between lanes. By all lanes.
  __device__ std::uint32_t before_pass(int rank, int pass) const {
    const std::uint32_t first = first_block_of_pass(rank, pass);
    const std::uint32_t even = __shfl_sync(~0U, before_block(0), static_cast<int>(first / 2));
    const std::uint32_t odd = __shfl_sync(~0U, before_block(1), static_cast<int>(first / 2));
    return first % 2 == 0 ? even : odd;
  }
};

/// Calls use(pass, block, class, bits of the pass's lists before) for the sparse blocks of a tile,
/// by a warp.
template <class Use>
__device__ void for_each_sparse_block(const CellsChains& chains, std::uint32_t tile,
                                      const Use& use) {
  const std::uint64_t sparse = chains.sparse[tile];
  if (sparse == 0) return;
  const BlockPair own(chains.classes + std::uint64_t{tile} * tile_blocks, sparse);
  CUSZI_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    const std::uint32_t block = 2 * (threadIdx.x % 32) + i;
    const int pass = pass_of_block(chains.rank, block);
    const std::uint32_t before = own.before_pass(chains.rank, pass);
    if (own.bits[i] == 0 || pass >= chains.passes) continue;
    const std::uint64_t at =
        chains.lists_at[static_cast<std::uint64_t>(pass) * chains.tiles + tile];
    use(pass, tile * tile_blocks + block, own.kinds[i], at + own.before_block(i) - before);
  }
}

/// The list of a sparse block. Codes that are not 0 are found first, so that few branches differ
/// between lanes.
__device__ std::uint32_t list_of_block(const CellsChains& chains, std::uint32_t block) {
  const std::int16_t* const codes = chains.codes + std::uint64_t{block} * cell_block_codes;
  const auto* const eights = reinterpret_cast<const uint4*>(codes);
  std::uint64_t in_use = 0;
#pragma unroll 8
  for (unsigned i = 0; i < cell_block_codes / 8; ++i) {
    const uint4 eight = __ldg(eights + i);
    const std::uint32_t pairs[] = {eight.x, eight.y, eight.z, eight.w};
    std::uint32_t bits = 0;
    CUSZI_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      const std::uint32_t flags = __vcmpne2(pairs[j], 0);
      bits |= ((flags & 1) | (flags >> 16 & 2)) << 2 * j;
    }
    in_use |= std::uint64_t{bits} << 8 * i;
  }
  UnitLister units;
  for (; in_use != 0; in_use &= in_use - 1) {
    const auto position = static_cast<unsigned>(__ffsll(static_cast<long long>(in_use)) - 1);
    units.add(position, __ldg(codes + position));
  }
  return units.list();
}

template <class Frames>
__global__ void __launch_bounds__(list_threads) put_lists(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const ChainEncodeTask& task = frames.find(shared, unused);
  const CellsChains& chains = task.chains;
  const std::uint32_t tile = blockIdx.x * tiles_of_block + threadIdx.x / 32;
  if (tile >= chains.tiles) return;
  for_each_sparse_block(
      chains, tile, [&](int pass, std::uint32_t block, std::uint32_t, std::uint64_t at) {
        std::uint32_t* const words =
            task.lists + (lists_of_pass(chains.rank, pass, chains.tiles) + at / 32);
        const std::uint64_t bits = std::uint64_t{list_of_block(chains, block)} << at % 32;
        atomicOr(words, static_cast<std::uint32_t>(bits));
        if (bits >> 32 != 0) atomicOr(words + 1, static_cast<std::uint32_t>(bits >> 32));
      });
}

/// The words of the lists of a pass: those that lanes carry, then those behind the segments of
/// classes.
class ListWords {
 public:
  __device__ ListWords(const ChainDecodeTask& task, int pass) {
    const CellsChains& chains = task.chains;
    const PassSegments& segments = chains.segments[pass];
    const std::uint64_t* const offsets = task.offsets + segments.first;
    const ByteCount of_classes = offsets[segments.of_classes] - offsets[0];
    const PassBytes& bytes = task.bytes[pass];
    carried_ = task.carried;
    for (int before = 0; before < pass; ++before)
      carried_ += 32 * std::uint64_t{chains.segments[before].of_classes};
    lanes_ = segments.of_classes == 0 ? 0 : chains.class_lanes(pass);
    section_ = bytes.classes + of_classes;
    if (of_classes <= bytes.class_bytes) section_bytes_ = bytes.class_bytes - of_classes;
  }
  /// The i-th word; 0 behind the last one.
  __device__ std::uint64_t operator[](std::uint64_t i) const {
    if (i < lanes_) return carried_[i];
    const ByteCount at = 2 * (i - lanes_);
    return at < section_bytes_ ? get_bytes(section_ + at, 2) : 0;
  }
  /// Whether there are as many words as lists need, and others are 0. By a warp.
  __device__ bool is_good(std::uint64_t words) const {
    if (section_bytes_ != list_bytes(words, lanes_)) return false;
    const std::uint64_t end = lanes_ + section_bytes_ / 2;
    bool is_zero = true;
    for (std::uint64_t i = words + threadIdx.x % 32; i < end; i += 32) is_zero &= (*this)[i] == 0;
    return __all_sync(~0U, is_zero);
  }

 private:
  const std::uint16_t* carried_;
  std::uint64_t lanes_;
  const std::byte* section_;
  ByteCount section_bytes_ = 0;
};

/// Thread blocks for the tiles, and one that checks what passes have, a warp a pass.
template <class Frames>
__global__ void __launch_bounds__(list_threads) take_lists(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block_of_frame;
  const ChainDecodeTask& task = frames.find(shared, block_of_frame);
  const CellsChains& chains = task.chains;
  if (block_of_frame + 1 == gridDim.x) {
    static_assert(tiles_of_block >= most_cell_passes);
    const auto pass = static_cast<int>(threadIdx.x / 32);
    if (pass >= chains.passes) return;
    const bool is_good = ListWords(task, pass).is_good(chains.words_of_lists(pass)) &&
                         task.has_codes_of_classes(pass);
    if (!is_good && threadIdx.x % 32 == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const std::uint32_t tile = block_of_frame * tiles_of_block + threadIdx.x / 32;
  if (tile >= chains.tiles) return;
  for_each_sparse_block(
      chains, tile, [&](int pass, std::uint32_t block, std::uint32_t kind, std::uint64_t at) {
        const std::uint32_t list = list_at(ListWords(task, pass), at);
        std::int16_t* const codes = chains.codes + std::uint64_t{block} * cell_block_codes;
        CUSZI_UNROLL
        for (unsigned i = 0; i < cell_block_codes / 8; ++i)
          reinterpret_cast<uint4*>(codes)[i] = make_uint4(0, 0, 0, 0);
        add_units(list, kind, codes);
      });
}

}  // namespace

void encode_lists(DeviceContext& gpu, const ChainEncodeTasks& frames) {
  const std::uint32_t tiles = frames.list().front().chains.tiles;
  const dim3 blocks(blocks_for(tiles, tiles_of_block), frames.count());
  frames.visit([&]<class Frames>(const Frames& tasks) {
    put_lists<Frames><<<blocks, list_threads, 0, gpu.stream()>>>(tasks);
  });
  check_launch("put_lists");
}

void decode_lists(DeviceContext& gpu, const ChainDecodeTasks& frames) {
  const std::uint32_t tiles = frames.list().front().chains.tiles;
  const dim3 blocks(blocks_for(tiles, tiles_of_block) + 1, frames.count());
  frames.visit([&]<class Frames>(const Frames& tasks) {
    take_lists<Frames><<<blocks, list_threads, 0, gpu.stream()>>>(tasks);
  });
  check_launch("take_lists");
}

}  // namespace cuszi::gpu
