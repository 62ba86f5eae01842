#include <algorithm>

#include "core/coders/symbol_lanes.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/tables.cuh"
#include "gpu/lossless/warp_block.cuh"
#include "gpu/transform/restoration.cuh"

namespace cuszi::gpu {

namespace {

/// A section of segments, with its entries of the index.
struct SegmentsOf {
  const std::byte* bytes;
  ByteCount size;
  const std::uint32_t* sizes;
  const std::uint64_t* before;  ///< sums of sizes
  std::uint32_t count;

  /// Whether the entries fit the section.
  __device__ bool is_whole() const { return before[count] == size; }
  __device__ const std::byte* begin(std::uint32_t number) const { return bytes + before[number]; }
};

struct ClassesTask {
  SegmentsOf segments;
  const std::uint8_t* symbols;  ///< [class before][slot]
  const SlotShare* shares;      ///< [class before][class]
  std::uint8_t* classes;
  std::uint32_t blocks;
  std::uint32_t* flaws;
};

/// Takes a symbol of a lane's table out of its state.
__device__ std::uint32_t take_symbol(const std::uint8_t* symbols, const SlotShare* shares, bool on,
                                     std::uint32_t& state, RingOfWords& words,
                                     std::uint32_t& raw_bits) {
  const std::uint32_t symbol = symbols[state % table_probability_one];
  const SlotShare share = shares[symbol];
  if (on) {
    state = without_symbol(state, share.share());
    raw_bits += share.raw_bits();
  }
  words.refill(state);
  return symbol;
}

/// A warp a segment.
__global__ void __launch_bounds__(32)
    decode_class_segments(const __grid_constant__ ClassesTask task) {
  __shared__ std::uint32_t ring_memory[RingOfWords::size / 2];
  const std::uint32_t segment = blockIdx.x;
  const unsigned lane = threadIdx.x;
  constexpr auto run = static_cast<std::uint32_t>(blocks_of_class_lane);
  const std::uint64_t begin = (std::uint64_t{segment} * 32 + lane) * run;
  const std::uint32_t steps =
      begin < task.blocks ? static_cast<std::uint32_t>(min(task.blocks - begin, std::uint64_t{run}))
                          : 0;
  const auto lanes = static_cast<std::uint32_t>(__popc(__ballot_sync(~0U, steps != 0)));
  const std::uint32_t size = task.segments.sizes[segment];
  const bool is_whole = task.segments.is_whole() && size % 4 == 0;
  const LaneStates states(task.segments.begin(segment), is_whole ? size / 4 : 0, lane < lanes, lane,
                          lanes);
  if (!states.is_good) {
    if (lane == 0) atomicOr(task.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(task.segments.begin(segment), size / 4);
  RingOfWords ring(words, states.words, ring_memory);
  std::uint32_t state = states.own;
  std::uint32_t before = 0;
  std::uint32_t unused = 0;
  std::uint32_t four = 0;
  CUSZI_NO_UNROLL
  for (std::uint32_t step = 0; step < run; ++step) {
    if (step % RingOfWords::steps_of_top_up == 0) ring.top_up();
    const bool on = step < steps;
    before = take_symbol(task.symbols + before * table_probability_one,
                         task.shares + before * token_places, on, state, ring, unused);
    four = __funnelshift_r(four, before, 8);
    if (step % 4 == 3 && step - 3 < steps)
      *reinterpret_cast<std::uint32_t*>(task.classes + begin + (step - 3)) = four;
  }
  if (!ring.ends_well(state, states.words) && lane == 0) atomicOr(task.flaws, bad_ans_segment);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    mark_live_words(const std::uint8_t* classes, std::uint32_t blocks, std::uint32_t* is_live) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < blocks) is_live[i] = classes[i] != 0 ? 1 : 0;
}

/// Tables in shared memory: those of `count` classes from `first` on, the shares of all, and the
/// rings of warps.
struct SharedWindow {
  std::uint32_t first;
  std::uint32_t count;

  static constexpr std::size_t shares_bytes = word_classes * (token_places + 1) * sizeof(SlotShare);
  static constexpr std::size_t ring_bytes = RingOfWords::size * 2;
  static constexpr std::size_t fixed_bytes = shares_bytes + WordsPolicy::decode_warps * ring_bytes;

  std::size_t bytes() const { return fixed_bytes + count * table_probability_one; }
  __device__ bool has(std::uint32_t number) const { return number - first < count; }
};

template <class Word>
struct TokensTask {
  WordsOfBlocks<Word> blocks;
  SegmentsOf tokens;
  SegmentsOf raw;
  std::uint32_t live;
  std::uint32_t segment_blocks;
  WordSlots slots;
  SharedWindow window;
  std::uint8_t* symbols;  ///< [live block][64]
  std::uint32_t* flaws;
};

/// Decodes a segment of tokens, by a warp.
template <class Word>
__device__ void decode_segment(const TokensTask<Word>& task, std::uint32_t segment,
                               const std::uint8_t* window, const SlotShare* shares,
                               std::uint32_t* ring_memory) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = segment * task.segment_blocks;
  const std::uint32_t count = min(task.segment_blocks, task.live - first);
  const std::uint32_t lanes = min(count, 32U);
  const std::uint32_t size = task.tokens.sizes[segment];
  const LaneStates states(task.tokens.begin(segment), size % 4 == 0 ? size / 4 : 0, lane < lanes,
                          lane, lanes);
  if (!states.is_good) {
    if (lane == 0) atomicOr(task.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(task.tokens.begin(segment), size / 4);
  RingOfWords ring(words, states.words, ring_memory);
  std::uint32_t state = states.own;
  const std::uint32_t rounds = (count + 31) / 32;
  CUSZI_NO_UNROLL
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t at = round * 32 + lane;
    const std::uint32_t block = task.blocks.live[first + (at < count ? at : 0)];
    const std::uint32_t points = at < count ? task.blocks.points[block] : 0;
    const std::uint32_t number = task.blocks.classes[block];
    const std::uint8_t* const symbols =
        task.window.has(number) ? window + (number - task.window.first) * table_probability_one
                                : task.slots.token_symbols + number * table_probability_one;
    const SlotShare* const own = shares + number * (token_places + 1);
    uint4* const out =
        reinterpret_cast<uint4*>(task.symbols + (first + at) * std::uint64_t{word_block});
    std::uint32_t raw_bits = 0;
    CUSZI_NO_UNROLL
    for (std::uint32_t i = 0; i < word_block; i += 16) {
      std::uint32_t four[4];
      CUSZI_UNROLL
      for (std::uint32_t j = 0; j < 4; ++j) {
        if (j % 2 == 0) ring.top_up();
        four[j] = 0;
        CUSZI_UNROLL
        for (std::uint32_t k = 0; k < 4; ++k)
          four[j] |= take_symbol(symbols, own, i + 4 * j + k < points, state, ring, raw_bits)
                     << (8 * k);
      }
      if (points != 0) out[i / 16] = make_uint4(four[0], four[1], four[2], four[3]);
    }
    if (points != 0) task.blocks.raw_bits[block] = raw_bits;
  }
  if (!ring.ends_well(state, states.words) && lane == 0) atomicOr(task.flaws, bad_ans_segment);
}

template <class Word>
__global__ void __launch_bounds__(32 * WordsPolicy::decode_warps)
    decode_tokens(const __grid_constant__ TokensTask<Word> task) {
  static_assert(RingOfWords::steps_of_top_up == 8);
  extern __shared__ uint4 memory[];
  auto* const rings = reinterpret_cast<std::uint32_t*>(memory);
  auto* const shares =
      reinterpret_cast<SlotShare*>(rings + WordsPolicy::decode_warps * RingOfWords::size / 2);
  auto* const window = reinterpret_cast<std::uint8_t*>(shares + word_classes * (token_places + 1));
  for (unsigned i = threadIdx.x; i < word_classes * token_places; i += blockDim.x)
    shares[i / token_places * (token_places + 1) + i % token_places] = task.slots.token_shares[i];
  const auto* const from = reinterpret_cast<const std::uint32_t*>(
      task.slots.token_symbols + task.window.first * table_probability_one);
  for (unsigned i = threadIdx.x; i < task.window.count * table_probability_one / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(window)[i] = from[i];
  __syncthreads();
  if (!task.tokens.is_whole()) {
    if (threadIdx.x == 0) atomicOr(task.flaws, bad_ans_segment);
    return;
  }
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t segment = warp * gridDim.x + blockIdx.x;
  if (segment < task.tokens.count)
    decode_segment(task, segment, window, shares, rings + warp * RingOfWords::size / 2);
}

/// A thread a segment: whether the raw bits are as many as tokens say, filled up by zeros.
template <class Word>
__global__ void __launch_bounds__(ItemPolicy::threads)
    check_raw_bits(const __grid_constant__ TokensTask<Word> task) {
  const std::uint64_t segment = ItemPolicy::first();
  if (segment >= task.raw.count) return;
  const std::uint64_t first = segment * task.segment_blocks;
  const std::uint64_t last = min(first + task.segment_blocks, std::uint64_t{task.live}) - 1;
  const BitCount bits = task.blocks.raw_before[task.blocks.live[last] + 1] -
                        task.blocks.raw_before[task.blocks.live[first]];
  const ByteCount size = raw_bytes_of(bits);
  bool is_good = task.raw.is_whole() && task.raw.sizes[segment] == size;
  if (is_good && bits % 64 != 0) {
    const std::byte* const end = task.raw.begin(static_cast<std::uint32_t>(segment)) + size;
    is_good = get_bytes(end - 8, 8) >> (bits % 64) == 0;
  }
  if (!is_good) atomicOr(task.flaws, bad_ans_segment);
}

/// Bits of a section that begins at any byte, by aligned words within it.
class UnalignedBits {
 public:
  __device__ UnalignedBits(const std::byte* bytes, ByteCount size)
      : shift_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(bytes) % 8)),
        aligned_(reinterpret_cast<const std::uint64_t*>(bytes - shift_)),
        whole_((size + shift_) / 8),
        tail_(static_cast<unsigned>((size + shift_) % 8)) {}

  /// Up to 64 bits.
  __device__ std::uint64_t get(BitCount at, std::uint32_t bits) const {
    at += 8 * shift_;
    const auto open = static_cast<unsigned>(at % 64);
    std::uint64_t value = word(at / 64) >> open;
    if (bits + open > 64) value |= word(at / 64 + 1) << (64 - open);
    return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
  }

 private:
  __device__ std::uint64_t word(std::uint64_t i) const {
    if (i < whole_) return __ldg(aligned_ + i);
    std::uint64_t value = 0;
    const auto* const last = reinterpret_cast<const std::uint8_t*>(aligned_ + whole_);
    CUSZI_NO_UNROLL
    for (unsigned k = 0; i == whole_ && k < tail_; ++k) value |= std::uint64_t{last[k]} << (8 * k);
    return value;
  }

  unsigned shift_;
  const std::uint64_t* aligned_;
  std::uint64_t whole_;
  unsigned tail_;
};

/// Where the tokens and raw bits of a block are.
struct RawBlock {
  std::uint32_t block = 0;
  std::uint32_t points_and_octave = 0;  ///< the octave in the upper half
  BitCount at = 0;

  template <class Word>
  __device__ static RawBlock of(const TokensTask<Word>& task, std::uint32_t number) {
    const std::uint32_t block = task.blocks.live[number];
    const std::uint32_t segment = number / task.segment_blocks;
    const std::uint32_t first_block = task.blocks.live[segment * task.segment_blocks];
    return {block, task.blocks.points[block] | octave_of_class(task.blocks.classes[block]) << 16,
            8 * task.raw.before[segment] +
                (task.blocks.raw_before[block] - task.blocks.raw_before[first_block])};
  }
  __device__ RawBlock of_lane(unsigned lane) const {
    const auto from = static_cast<int>(lane);
    return {__shfl_sync(~0U, block, from), __shfl_sync(~0U, points_and_octave, from),
            __shfl_sync(~0U, at, from)};
  }
};

template <class Word>
struct alignas(2 * sizeof(Word)) WordPair {
  Word words[2];
};

constexpr unsigned raw_blocks_of_warp = 8;  ///< whose places are found at once

/// A warp some blocks that have tokens: words from their tokens and raw bits.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    take_raw_bits(const __grid_constant__ TokensTask<Word> task) {
  if (*task.flaws != 0) return;
  const unsigned lane = threadIdx.x % 32;
  const auto first = static_cast<std::uint32_t>(ItemPolicy::first() / 32 * raw_blocks_of_warp);
  if (first >= task.live) return;
  const std::uint32_t count = min(raw_blocks_of_warp, task.live - first);
  RawBlock own_block;
  if (lane < count) own_block = RawBlock::of(task, first + lane);
  const auto* const symbols =
      reinterpret_cast<const std::uint16_t*>(task.symbols + std::uint64_t{first} * word_block);
  std::uint32_t next = __ldg(symbols + lane);
  const UnalignedBits bits(task.raw.bytes, task.raw.size);
  CUSZI_NO_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t tokens = next;
    if (i + 1 < count) next = __ldg(symbols + (i + 1) * (word_block / 2) + lane);
    const RawBlock now = own_block.of_lane(i);
    const std::uint32_t points = now.points_and_octave & 0xFFFFU;
    WordTokenForm forms[2];
    CUSZI_UNROLL
    for (unsigned k = 0; k < 2; ++k)
      if (2 * lane + k < points)
        forms[k] = form_of_token(tokens >> (8 * k) & 0xFFU, now.points_and_octave >> 16);
    const std::uint32_t own = std::uint32_t{forms[0].raw_bits} + forms[1].raw_bits;
    std::uint32_t end = own;
    CUSZI_UNROLL
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t before = __shfl_up_sync(~0U, end, step);
      if (lane >= step) end += before;
    }
    BitCount at = now.at + (end - own);
    WordPair<Word> pair;
    CUSZI_UNROLL
    for (unsigned k = 0; k < 2; ++k) {
      pair.words[k] = word_of_raw<Word>(forms[k], bits.get(at, forms[k].raw_bits));
      at += forms[k].raw_bits;
    }
    reinterpret_cast<WordPair<Word>*>(task.blocks.words +
                                      std::uint64_t{now.block} * word_block)[lane] = pair;
  }
}

/// The classes whose tables are worth shared memory: those that a head tells of.
SharedWindow window_of(const DeviceContext& gpu, const WordTables& tables) {
  SharedWindow window{0, 0};
  std::uint32_t end = 0;
  for (std::uint32_t i = 1; i < word_classes; ++i) {
    if (tables.tokens[i].is_default) continue;
    if (end == 0) window.first = i;
    end = i + 1;
  }
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu.device().number),
        "query its shared memory");
  const std::size_t room = static_cast<std::size_t>(most) - SharedWindow::fixed_bytes;
  window.count =
      std::min(end - window.first, static_cast<std::uint32_t>(room / table_probability_one));
  return window;
}

SegmentsOf segments_of(DeviceContext& gpu, Bytes section, const std::uint32_t* sizes,
                       std::uint32_t count) {
  auto* const before = gpu.take<std::uint64_t>(std::uint64_t{count} + 1);
  exclusive_sums(gpu, sizes, count, before);
  return {section.data(), section.size(), sizes, before, count};
}

template <class Word>
void start_classes(DeviceContext& gpu, const SegmentsOf& segments, const WordSlots& slots,
                   std::uint32_t count, const WordsOfBlocks<Word>& blocks) {
  ClassesTask task{};
  task.segments = segments;
  task.symbols = slots.class_symbols;
  task.shares = slots.class_shares;
  task.classes = blocks.classes;
  task.blocks = count;
  task.flaws = gpu.flaws();
  check(cudaMemsetAsync(blocks.classes, 0, count, gpu.stream()), "clear memory");
  decode_class_segments<<<segments.count, 32, 0, gpu.stream()>>>(task);
  check_launch("decode_class_segments");
  launch_items(gpu, "mark_live_words", count, mark_live_words, blocks.classes, count,
               blocks.is_live);
  list_live_blocks(gpu, blocks, count);
}

template <class Word>
void start_tokens(DeviceContext& gpu, TokensTask<Word> task, std::uint32_t count) {
  task.symbols = gpu.take<std::uint8_t>(std::uint64_t{task.live} * word_block);
  task.flaws = gpu.flaws();
  check(
      cudaMemsetAsync(task.blocks.raw_bits, 0, count * sizeof *task.blocks.raw_bits, gpu.stream()),
      "clear memory");
  const std::size_t shared = task.window.bytes();
  raise_shared_limit(gpu.device(), decode_tokens<Word>);
  decode_tokens<Word><<<blocks_for(task.tokens.count, WordsPolicy::decode_warps),
                        32 * WordsPolicy::decode_warps, shared, gpu.stream()>>>(task);
  check_launch("decode_tokens");
  exclusive_sums(gpu, task.blocks.raw_bits, count, task.blocks.raw_before);
  launch_items(gpu, "check_raw_bits", task.raw.count, check_raw_bits<Word>, task);
  launch_items(gpu, "take_raw_bits", std::uint64_t{ceil_div(task.live, raw_blocks_of_warp)} * 32,
               take_raw_bits<Word>, task);
}

}  // namespace

template <class Word>
void decode_words(DeviceContext& gpu, const WordSections<Bytes>& sections,
                  const WordHead<Word>& head, std::uint32_t count,
                  const WordsOfBlocks<Word>& blocks) {
  const auto of_classes =
      static_cast<std::uint32_t>(ceil_div(std::uint64_t{count}, most_lanes * blocks_of_class_lane));
  const std::uint64_t entries = sections.index.size() / 4;
  if (sections.index.size() % 4 != 0 || entries < of_classes) throw ArchiveError(chain_damage);
  auto* const sizes = gpu.take<std::uint32_t>(entries);
  start_copy(gpu, reinterpret_cast<std::byte*>(sizes), sections.index.data(),
             sections.index.size());
  const WordSlots slots = start_slots(gpu, head.tables);
  start_classes(gpu, segments_of(gpu, sections.classes, sizes, of_classes), slots, count, blocks);
  const std::uint64_t& live = *download(gpu, blocks.live_before + count, 1);
  const std::uint32_t& flaws = *download(gpu, gpu.flaws(), 1);
  gpu.sync();
  refuse_flaws(flaws);
  TokensTask<Word> task{};
  task.blocks = blocks;
  task.live = static_cast<std::uint32_t>(live);
  task.segment_blocks = 32 * head.blocks_of_lane;
  const std::uint32_t of_tokens = ceil_div(task.live, task.segment_blocks);
  if (entries != of_classes + 2 * std::uint64_t{of_tokens}) throw ArchiveError(chain_damage);
  if (of_tokens == 0) {
    if (!sections.codes.empty() || !sections.raw.empty()) throw ArchiveError(chain_damage);
    return;
  }
  task.slots = slots;
  task.window = window_of(gpu, head.tables);
  task.tokens = segments_of(gpu, sections.codes, sizes + of_classes, of_tokens);
  task.raw = segments_of(gpu, sections.raw, sizes + of_classes + of_tokens, of_tokens);
  start_tokens(gpu, task, count);
}

template void decode_words(DeviceContext&, const WordSections<Bytes>&,
                           const WordHead<std::uint32_t>&, std::uint32_t,
                           const WordsOfBlocks<std::uint32_t>&);
template void decode_words(DeviceContext&, const WordSections<Bytes>&,
                           const WordHead<std::uint64_t>&, std::uint32_t,
                           const WordsOfBlocks<std::uint64_t>&);

}  // namespace cuszi::gpu
