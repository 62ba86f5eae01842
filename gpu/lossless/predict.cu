#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

namespace {

/// A warp predicts a slab of eight blocks side by side at once, a lane 16 successive points of a
/// block: some rows. Slabs follow one another along the slowest axis.
template <int rank>
struct SlabShape;
template <>
struct SlabShape<1> {
  static constexpr int z = 1, y = 1, x = 512;
  static constexpr int block_z = 1, block_y = 1, block_x = 64;
  static constexpr int rows = 1, words = 16;  ///< of a lane
  static constexpr int planes = 1;            ///< of a lane, along the slowest axis
};
template <>
struct SlabShape<2> {
  static constexpr int z = 1, y = 8, x = 64;
  static constexpr int block_z = 1, block_y = 8, block_x = 8;
  static constexpr int rows = 2, words = 8;
  static constexpr int planes = 2;
};
template <>
struct SlabShape<3> {
  static constexpr int z = 4, y = 4, x = 32;
  static constexpr int block_z = 4, block_y = 4, block_x = 4;
  static constexpr int rows = 4, words = 4;
  static constexpr int planes = 1;
};
constexpr int slabs_of_strip = 6;

template <class Word>
struct PredictPolicy {
  static constexpr unsigned warps = 32 / sizeof(Word);
  static constexpr unsigned threads = 32 * warps;
};

template <class Word>
struct PredictTask {
  const Word* bits;
  bool by_parts;  ///< rows are aligned to 16 bytes
  WordMap<Word> map;
  Word zero;                        ///< the bits whose word is 0
  Word factors[3][most_order + 1];  ///< of neighbours at distance 0, 1, 2 along an axis
  DeviceGrid grid;
  std::uint32_t strips_along[3];  ///< in a chunk
  std::uint32_t strips;           ///< of all chunks
  TokenBlocks blocks;
  DeviceCounts* counts;
  BitExtremes<Word>* extremes;
};

/// Which part of which block of a slab a lane has.
template <int rank>
struct PartOfLane : LanesOfBlock<rank == 1 ? 1 : 8> {
  static constexpr int lanes_along_x = rank == 1 ? 32 : 8;

  __device__ bool is_first_of_row() const { return threadIdx.x % lanes_along_x == 0; }
};

struct PointAt {
  int z;
  int y;
  int x;
};

/// A slab in its chunk.
template <int rank>
struct SlabAt {
  using Shape = SlabShape<rank>;

  WordChunk chunk;
  int first[3];

  /// The first slab of a strip.
  template <class Task>
  __device__ static SlabAt of(const Task& task, std::uint32_t number) {
    const std::uint32_t width = task.strips_along[2];
    const std::uint32_t height = task.strips_along[1];
    const std::uint32_t in_chunk = task.strips_along[0] * height * width;
    const std::uint32_t own = number % in_chunk;
    SlabAt slab{task.grid.chunks[number / in_chunk],
                {static_cast<int>(own / width / height) * Shape::z,
                 static_cast<int>(own / width % height) * Shape::y,
                 static_cast<int>(own % width) * Shape::x}};
    slab.first[3 - rank] *= slabs_of_strip;
    return slab;
  }
  __device__ void advance(int slabs) {
    constexpr int size[] = {Shape::z, Shape::y, Shape::x};
    first[3 - rank] += slabs * size[3 - rank];
  }
  __device__ PointAt of_lane() const {
    const PartOfLane<rank> own;
    const auto part = static_cast<int>(own.part);
    const int x = first[2] + static_cast<int>(own.block) * Shape::block_x;
    if constexpr (rank == 1) return {0, 0, x + part * Shape::words};
    if constexpr (rank == 2) return {0, first[1] + part * Shape::rows, x};
    return {first[0] + part, first[1], x};
  }
  __device__ int size(int axis) const { return static_cast<int>(chunk.size[axis]); }
  /// Also of points before the chunk.
  __device__ bool has(int at, int axis) const {
    return static_cast<std::uint32_t>(at) < chunk.size[axis];
  }
  __device__ bool exists() const {
    return has(first[0], 0) && has(first[1], 1) && has(first[2], 2);
  }
};

/// Calls f(map) with an order that is known when f is compiled.
template <class Word, class F>
__device__ void with_known_order(WordMap<Word> map, const F& f) {
  if (map.order == WordOrder::by_value) {
    map.order = WordOrder::by_value;
    f(map);
  } else if (map.order == WordOrder::sign_last) {
    map.order = WordOrder::sign_last;
    f(map);
  } else if (map.order == WordOrder::multiples) {
    map.order = WordOrder::multiples;
    f(map);
  } else {
    map.order = WordOrder::integers;
    f(map);
  }
}

/// The differences of a strip, a slab after the other, by a warp: as core's take_differences().
template <class Word, int rank, int reach>
class StripDifferences {
  using Shape = SlabShape<rank>;
  /// Parts of a slab that the next one needs.
  static constexpr int kept_parts = rank == 1 ? 0 : (reach + Shape::planes - 1) / Shape::planes;
  static constexpr int points = points_of_lane;

 public:
  struct Shared {
    Word kept[kept_parts == 0 ? 1 : kept_parts][points][blocks_of_warp];
  };

  /// Adds the values that it sees to `seen`.
  __device__ StripDifferences(const PredictTask<Word>& task, Shared& shared, SlabAt<rank> first,
                              BitExtremes<Word>& seen)
      : task_(task), shared_(shared), seen_(seen) {
    if constexpr (rank > 1) {
      first.advance(-1);
      Word words[points];
      take_in_plane(first, own_.part >= lanes_of_block - kept_parts, words);
      keep(words);
    }
  }

  /// Those of a lane's points.
  __device__ void take(const SlabAt<rank>& slab, Word (&differences)[points]) {
    if constexpr (rank == 1) {
      take_in_plane(slab, true, differences);
    } else {
      Word words[points];
      take_in_plane(slab, true, words);
      CUSZI_UNROLL
      for (int i = 0; i < points; ++i) {
        differences[i] = words[i];
        CUSZI_UNROLL
        for (int distance = 1; distance <= reach; ++distance)
          differences[i] += task_.factors[3 - rank][distance] * before(words, i, distance);
      }
      __syncwarp();
      keep(words);
    }
  }

 private:
  static constexpr int rows_before = rank == 3 ? reach : 0;
  static constexpr int all_rows = Shape::rows + rows_before;
  static constexpr int row_words = reach + Shape::words;  ///< neighbours before it, too
  using Row = Word[row_words];

  /// The word a distance before one along the slowest axis.
  __device__ Word before(const Word (&words)[points], int i, int distance) const {
    constexpr int plane = points / Shape::planes;
    const int at = i - distance * plane;
    if (at >= 0) return words[at];
    const int lower = (points - 1 - at) / points;  // parts
    const Word here =
        __shfl_up_sync(~0U, words[at + lower * points], static_cast<unsigned>(lower) * own_.step);
    const auto part = static_cast<int>(own_.part);
    return part >= lower ? here
                         : shared_.kept[part - lower + kept_parts][at + lower * points][own_.block];
  }
  __device__ void keep(const Word (&words)[points]) {
    if (own_.part >= lanes_of_block - kept_parts) {
      CUSZI_UNROLL
      for (int i = 0; i < points; ++i)
        shared_.kept[own_.part - (lanes_of_block - kept_parts)][i][own_.block] = words[i];
    }
    __syncwarp();
  }

  /// Differences along x, and in cubes along y.
  __device__ void take_in_plane(const SlabAt<rank>& slab, bool is_needed,
                                Word (&differences)[points]) const {
    Row rows[all_rows];
    load(slab, is_needed, rows);
    CUSZI_UNROLL
    for (int i = 0; i < points; ++i)
      seen_.take(rows[i / Shape::words + rows_before][i % Shape::words + reach]);
    with_known_order(task_.map, [&](const WordMap<Word>& map) {
      CUSZI_UNROLL
      for (int i = 0; i < all_rows * row_words; ++i) {
        Word& word = rows[i / row_words][i % row_words];
        word = map.word_of(word);
      }
    });
    CUSZI_UNROLL
    for (int number = 0; number < all_rows; ++number) {
      Row& row = rows[number];
      CUSZI_UNROLL
      for (int i = 0; i < reach; ++i) {
        const Word inside = __shfl_up_sync(~0U, row[Shape::words + i], 1);
        if (!own_.is_first_of_row()) row[i] = inside;
      }
      CUSZI_UNROLL
      for (int i = row_words - 1; i >= reach; --i) {
        CUSZI_UNROLL
        for (int distance = 1; distance <= reach; ++distance)
          row[i] += task_.factors[2][distance] * row[i - distance];
      }
    }
    CUSZI_UNROLL
    for (int i = 0; i < points; ++i) {
      const int row = i / Shape::words + rows_before;
      const int x = i % Shape::words + reach;
      differences[i] = rows[row][x];
      CUSZI_UNROLL
      for (int distance = 1; distance <= rows_before; ++distance)
        differences[i] += task_.factors[1][distance] * rows[row - distance][x];
    }
  }

  /// The bits of a lane's rows; of neighbours only in the first lane of a row.
  __device__ void load(const SlabAt<rank>& slab, bool is_needed, Row (&rows)[all_rows]) const {
    CUSZI_UNROLL
    for (int i = 0; i < all_rows * row_words; ++i) rows[i / row_words][i % row_words] = task_.zero;
    const PointAt at = slab.of_lane();
    if (!is_needed || !slab.has(at.z, 0)) return;
    const Word* const first =
        task_.bits + slab.chunk.first_point + static_cast<std::int64_t>(task_.grid.plane) * at.z +
        static_cast<std::int64_t>(task_.grid.row) * (at.y - rows_before) + at.x;
    const auto for_each_row = [&](const auto& f) {
      CUSZI_UNROLL
      for (int i = 0; i < all_rows; ++i)
        if (slab.has(at.y + i - rows_before, 1))
          f(rows[i], first + static_cast<unsigned>(i) * task_.grid.row);
    };
    const int existing = slab.size(2) - at.x;
    if (task_.by_parts && existing >= Shape::words) {
      constexpr int words_of_part = sizeof(uint4) / sizeof(Word);
      for_each_row([&](Row& row, const Word* from) {
        CUSZI_UNROLL
        for (int i = 0; i < Shape::words; i += words_of_part) {
          const uint4 part = __ldg(reinterpret_cast<const uint4*>(from + i));
          const std::uint32_t four[] = {part.x, part.y, part.z, part.w};
          CUSZI_UNROLL
          for (int k = 0; k < words_of_part; ++k) {
            if constexpr (sizeof(Word) == 4)
              row[reach + i + k] = four[k];
            else
              row[reach + i + k] = four[2 * k] | std::uint64_t{four[2 * k + 1]} << 32;
          }
        }
      });
    } else {
      for_each_row([&](Row& row, const Word* from) {
        CUSZI_UNROLL
        for (int i = 0; i < Shape::words; ++i)
          if (i < existing) row[reach + i] = __ldg(from + i);
      });
    }
    if (!own_.is_first_of_row()) return;
    for_each_row([&](Row& row, const Word* from) {
      CUSZI_UNROLL
      for (int i = 0; i < reach; ++i)
        if (at.x >= reach - i) row[i] = __ldg(from - (reach - i));
    });
  }

  const PredictTask<Word>& task_;
  Shared& shared_;
  BitExtremes<Word>& seen_;
  PartOfLane<rank> own_;
};

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
