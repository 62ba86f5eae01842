#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/strip_differences.cuh"
#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

namespace {

/// Appends raw bits to zeroed words in shared memory, of which other lanes write the first and the
/// last, too.
class RawBitsOfLane {
 public:
  __device__ RawBitsOfLane(std::uint32_t* words, std::uint32_t at) : words_(words), at_(at) {}

  /// `value` is below 2^bits; up to 32 bits.
  __device__ void put(std::uint32_t value, std::uint32_t bits) {
    const std::uint32_t low = pending_ | value << at_ % 32;
    const std::uint32_t high = __funnelshift_l(value, 0, at_);
    const std::uint32_t next = at_ + bits;
    const bool is_full = (at_ ^ next) >= 32;
    set_bits(words_ + at_ / 32, is_full ? low : 0);
    pending_ = is_full ? high : low;
    at_ = next;
  }
  __device__ void flush() const { set_bits(words_ + at_ / 32, pending_); }

 private:
  std::uint32_t* words_;
  std::uint32_t at_;
  std::uint32_t pending_ = 0;  ///< of the word of at_
};

/// Tokens are counted by class; absent ones, too.
constexpr unsigned counted_tokens = token_places + 1;

/// The tokens of a lane's points of a block, and their raw bits.
template <class Word>
struct TokensOfLane {
  static constexpr unsigned parts = points_of_lane / 4;

  std::uint32_t tokens[parts] = {};  ///< a byte each
  std::uint32_t widths[parts] = {};
  std::uint32_t raw_bits = 0;  ///< of all
  Word raw[points_of_lane];

  __device__ TokensOfLane(const Word (&words)[points_of_lane], std::uint32_t number) {
    const unsigned octave = octave_of_class(number);
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i) {
      const WordToken made =
          token_of_word(magnitude_of_word(words[i]), is_negative(words[i]), octave);
      tokens[i / 4] += made.token << (8 * (i % 4));
      widths[i / 4] += made.raw_bits << (8 * (i % 4));
      raw_bits += made.raw_bits;
      raw[i] = static_cast<Word>(made.raw);
    }
  }
  __device__ void leave_out(std::uint32_t absent) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i)
      if ((absent >> i & 1) != 0) tokens[i / 4] |= absent_token << (8 * (i % 4));
  }
  __device__ void count(std::uint32_t* counts) const {
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i) atomicAdd(&counts[byte(tokens, i)], 1U);
  }
  __device__ void put_raw(RawBitsOfLane to) const {
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i) {
      const std::uint32_t bits = byte(widths, i);
      if constexpr (sizeof(Word) == 4) {
        to.put(raw[i], bits);
      } else {
        to.put(static_cast<std::uint32_t>(raw[i]), min(bits, 32U));
        to.put(static_cast<std::uint32_t>(raw[i] >> 32), bits - min(bits, 32U));
      }
    }
    to.flush();
  }
  __device__ uint4 all() const { return make_uint4(tokens[0], tokens[1], tokens[2], tokens[3]); }
  /// Those that are not absent.
  __device__ void store_present(std::uint8_t* to) const {
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i)
      if (byte(tokens, i) != absent_token) *to++ = static_cast<std::uint8_t>(byte(tokens, i));
  }

 private:
  __device__ static std::uint32_t byte(const std::uint32_t (&of)[parts], unsigned i) {
    return of[i / 4] >> (8 * (i % 4)) & 0xFFU;
  }
};

/// The block of a slab that a lane has a part of.
template <int rank>
struct BlockOfLane {
  using Shape = SlabShape<rank>;

  std::uint64_t number;  ///< of the frame
  bool exists;
  std::uint32_t absent = 0;  ///< points of the lane, a bit each

  __device__ explicit BlockOfLane(const SlabAt<rank>& slab) {
    const PartOfLane<rank> own;
    const int x = slab.first[2] + static_cast<int>(own.block) * Shape::block_x;
    const int along_y = (slab.size(1) + Shape::block_y - 1) / Shape::block_y;
    const int along_x = (slab.size(2) + Shape::block_x - 1) / Shape::block_x;
    const int in_chunk =
        (slab.first[0] / Shape::block_z * along_y + slab.first[1] / Shape::block_y) * along_x +
        x / Shape::block_x;
    number = slab.chunk.first_block + static_cast<unsigned>(in_chunk);
    exists = slab.has(x, 2);
    const int depth = slab.size(0) - slab.first[0];
    const int height = slab.size(1) - slab.first[1];
    const int width = slab.size(2) - x;
    if (depth >= Shape::block_z && height >= Shape::block_y && width >= Shape::block_x) return;
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i) {
      const Point3 inside = point_of_block<rank>(own.part * points_of_lane + i);
      const bool is_in = static_cast<int>(inside.z) < depth &&
                         static_cast<int>(inside.y) < height && static_cast<int>(inside.x) < width;
      absent |= std::uint32_t{!is_in} << i;
    }
  }
};

/// Room for the raw bits of the blocks of a warp.
template <class Word>
struct RawOfSlab {
  static constexpr unsigned parts = word_block * sizeof(Word) / sizeof(uint4);

  uint4 of_block[blocks_of_warp][parts];
};

/// Stores what the chains need to know of the blocks of a slab, by a warp.
template <class Word, int rank>
__device__ void finish_slab(const TokenBlocks& blocks, const SlabAt<rank>& slab,
                            Word (&words)[points_of_lane], RawOfSlab<Word>& raw,
                            std::uint32_t* counts) {
  const PartOfLane<rank> own;
  const BlockOfLane<rank> block(slab);
  if (block.absent != 0) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < points_of_lane; ++i)
      if ((block.absent >> i & 1) != 0) words[i] = 0;
  }
  const std::uint32_t number = class_of_lanes(words, own);
  TokensOfLane<Word> tokens(words, number);
  const auto raw_bits = own.scan(tokens.raw_bits);
  const std::uint32_t raw_parts = ceil_div(raw_bits.all, std::uint32_t{8 * sizeof(uint4)});
  uint4* const own_raw = raw.of_block[own.block];
  for (std::uint32_t i = own.part; i < raw_parts; i += lanes_of_block)
    own_raw[i] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  tokens.put_raw({reinterpret_cast<std::uint32_t*>(own_raw), raw_bits.before});
  const auto absent = own.scan(static_cast<unsigned>(__popc(block.absent)));
  __syncwarp();
  if (!block.exists) return;
  if (own.part == 0) {
    blocks.classes[block.number] = static_cast<std::uint8_t>(number);
    blocks.raw_bits[block.number] = raw_bits.all;
    blocks.is_live[block.number] = number != 0 ? 1 : 0;
  }
  if (number == 0) return;
  auto* const raw_to = reinterpret_cast<uint4*>(blocks.raw + block.number * blocks.raw_words);
  for (std::uint32_t i = own.part; i < raw_parts; i += lanes_of_block) raw_to[i] = own_raw[i];
  std::uint8_t* const tokens_to = blocks.tokens + block.number * word_block;
  if (absent.all == 0) {
    reinterpret_cast<uint4*>(tokens_to)[own.part] = tokens.all();
  } else {
    tokens.leave_out(block.absent);
    tokens.store_present(tokens_to + own.part * points_of_lane - absent.before);
    for (std::uint32_t i = word_block - absent.all + own.part; i < word_block; i += lanes_of_block)
      tokens_to[i] = static_cast<std::uint8_t>(absent_token);
  }
  tokens.count(counts + number * counted_tokens);
}

/// A warp a strip of slabs at a time.
template <class Word, int rank, int reach>
__global__ void __launch_bounds__(PredictPolicy<Word>::threads, WordsPolicy::strip_blocks)
    predict_strips(const __grid_constant__ PredictTask<Word> task) {
  using Policy = PredictPolicy<Word>;
  using Differences = StripDifferences<Word, rank, reach>;
  __shared__ typename Differences::Shared kept[Policy::warps];
  __shared__ RawOfSlab<Word> raw[Policy::warps];
  __shared__ std::uint32_t counts[word_classes * counted_tokens];
  __shared__ BitExtremes<Word> extremes;
  for (unsigned i = threadIdx.x; i < word_classes * counted_tokens; i += Policy::threads)
    counts[i] = 0;
  BitExtremes<Word> seen;
  if (threadIdx.x == 0) extremes = seen;
  __syncthreads();
  const int shift = task.map.shift();
  const unsigned warp = threadIdx.x / 32;
  for (std::uint32_t number = blockIdx.x * Policy::warps + warp; number < task.strips;
       number += gridDim.x * Policy::warps) {
    auto slab = SlabAt<rank>::of(task, number);
    if (!slab.exists()) continue;
    Differences differences(task, kept[warp], slab, seen);
    CUSZI_NO_UNROLL
    for (int i = 0; i < slabs_of_strip && slab.exists(); ++i) {
      Word words[points_of_lane];
      differences.take(slab, words);
      CUSZI_UNROLL
      for (Word& word : words) word = shifted_right(word, shift);
      finish_slab<Word, rank>(task.blocks, slab, words, raw[warp], counts);
      slab.advance(1);
      __syncwarp();
    }
  }
  seen.merge_warp();
  if (threadIdx.x % 32 == 0) seen.add_to(extremes);
  __syncthreads();
  if (threadIdx.x == 0) extremes.add_to(*task.extremes);
  for (unsigned i = threadIdx.x; i < word_classes * token_places; i += Policy::threads) {
    const std::uint32_t count = counts[i / token_places * counted_tokens + i % token_places];
    if (count != 0) atomicAdd(&task.counts->tokens[i], count);
  }
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    count_classes(const std::uint8_t* classes, std::uint32_t blocks, DeviceCounts* counts) {
  constexpr unsigned places = word_classes * token_places;
  __shared__ std::uint32_t own[places];
  for (unsigned i = threadIdx.x; i < places; i += ItemPolicy::threads) own[i] = 0;
  __syncthreads();
  for (std::uint64_t i = ItemPolicy::first(); i < blocks; i += ItemPolicy::step()) {
    const std::uint32_t before = i % blocks_of_class_lane == 0 ? 0 : classes[i - 1];
    atomicAdd(&own[before * token_places + classes[i]], 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < places; i += ItemPolicy::threads)
    if (own[i] != 0) atomicAdd(&counts->classes[i], own[i]);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    number_live_blocks(const std::uint32_t* is_live, const std::uint64_t* before,
                       std::uint32_t blocks, std::uint32_t* live) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < blocks && is_live[i] != 0) live[before[i]] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    number_chunks(WordGrid grid, std::uint32_t count, WordChunk* chunks) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count) return;
  const WordBox box = grid.chunk_at(i);
  const std::uint64_t first =
      (box.first[0] * grid.extents[1] + box.first[1]) * grid.extents[2] + box.first[2];
  chunks[i] = {first,
               grid.blocks_before(box),
               {static_cast<std::uint32_t>(box.size[0]), static_cast<std::uint32_t>(box.size[1]),
                static_cast<std::uint32_t>(box.size[2])}};
}

template <class Word, int rank, int reach>
void launch_prediction(DeviceContext& gpu, PredictTask<Word>& task) {
  using Shape = SlabShape<rank>;
  using Policy = PredictPolicy<Word>;
  std::uint32_t strip[] = {Shape::z, Shape::y, Shape::x};
  strip[3 - rank] *= slabs_of_strip;
  std::uint64_t strips = task.grid.chunk_count;
  for (int axis = 0; axis < 3; ++axis) {
    task.strips_along[axis] = ceil_div(task.grid.chunk[axis], strip[axis]);
    strips *= task.strips_along[axis];
  }
  task.strips = grid_of(strips);
  const unsigned most = WordsPolicy::strip_blocks * gpu.device().multiprocessors;
  predict_strips<Word, rank, reach><<<std::min(blocks_for(task.strips, Policy::warps), most),
                                      Policy::threads, 0, gpu.stream()>>>(task);
  check_launch("predict_strips");
}

template <class Word, int rank>
void launch_prediction(DeviceContext& gpu, PredictTask<Word>& task, int reach) {
  if (reach < 2)
    launch_prediction<Word, rank, 1>(gpu, task);
  else
    launch_prediction<Word, rank, 2>(gpu, task);
}

}  // namespace

DeviceGrid take_grid(DeviceContext& gpu, const WordGrid& grid) {
  DeviceGrid there{};
  there.row = grid.extents[2];
  there.plane = grid.extents[1] * grid.extents[2];
  there.blocks = grid_of(grid.blocks());
  there.chunk_count = grid_of(grid.chunks());
  for (std::size_t axis = 0; axis < 3; ++axis)
    there.chunk[axis] = static_cast<std::uint32_t>(std::min(grid.chunk[axis], grid.extents[axis]));
  there.rank = rank_of(grid.extents);
  auto* const chunks = gpu.take<WordChunk>(there.chunk_count);
  launch_items(gpu, "number_chunks", there.chunk_count, number_chunks, grid, there.chunk_count,
               chunks);
  there.chunks = chunks;
  return there;
}

void list_live_blocks(DeviceContext& gpu, const DeviceBlocks& blocks, std::uint32_t count) {
  exclusive_sums(gpu, blocks.is_live, count, blocks.live_before);
  launch_items(gpu, "number_live_blocks", count, number_live_blocks, blocks.is_live,
               blocks.live_before, count, blocks.live);
}

template <class Word>
void predict_words(DeviceContext& gpu, const Word* bits, const WordChoice<Word>& choice,
                   const DeviceGrid& grid, const TokenBlocks& blocks, DeviceCounts* counts,
                   BitExtremes<Word>* extremes) {
  PredictTask<Word> task{};
  task.bits = bits;
  task.by_parts = reinterpret_cast<std::uintptr_t>(bits) % sizeof(uint4) == 0 &&
                  (grid.rank == 1 || grid.row * sizeof(Word) % sizeof(uint4) == 0);
  task.map = choice.map;
  task.zero = choice.map.bits_of(0);
  int reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int order = choice.orders[axis];
    reach = std::max(reach, order);
    for (int distance = 0; distance <= most_order; ++distance)
      task.factors[axis][distance] = static_cast<Word>(difference_factor(order, distance));
  }
  task.grid = grid;
  task.blocks = blocks;
  task.counts = counts;
  task.extremes = extremes;
  if (grid.rank == 1)
    launch_prediction<Word, 1>(gpu, task, reach);
  else if (grid.rank == 2)
    launch_prediction<Word, 2>(gpu, task, reach);
  else
    launch_prediction<Word, 3>(gpu, task, reach);
  launch_in_turn(gpu, "count_classes", grid.blocks, 4, count_classes, blocks.classes, grid.blocks,
                 counts);
}

template void predict_words(DeviceContext&, const std::uint32_t*, const WordChoice<std::uint32_t>&,
                            const DeviceGrid&, const TokenBlocks&, DeviceCounts*,
                            BitExtremes<std::uint32_t>*);
template void predict_words(DeviceContext&, const std::uint64_t*, const WordChoice<std::uint64_t>&,
                            const DeviceGrid&, const TokenBlocks&, DeviceCounts*,
                            BitExtremes<std::uint64_t>*);

}  // namespace cuszi::gpu
