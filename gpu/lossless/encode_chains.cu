#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned class_batch = 16;  ///< classes of a lane that are loaded at once
static_assert(blocks_of_class_lane % class_batch == 0);
constexpr std::uint64_t class_segment_words = most_lanes * blocks_of_class_lane;
constexpr std::uint64_t spare_words = 64;  ///< of a segment

struct ChainsTask {
  TokenBlocks blocks;
  WordsToCode all;
  const std::uint64_t* raw_at;  ///< bytes before those of a segment of tokens
  std::uint32_t* raw;           ///< by words of 32 bits
  std::uint16_t* class_words;
  std::uint16_t* token_words;
  std::uint32_t class_segments;
  std::uint32_t token_segments;
  std::uint32_t* heads;  ///< [segment][word], those of classes first
  LaneWords* words;      ///< [segment]
  std::uint32_t* sizes;  ///< likewise; those of raw bits behind

  __device__ std::uint32_t segment_blocks() const { return 32 * all.blocks_of_lane; }
};

__device__ void finish_segment(const ChainsTask& task, std::uint32_t number, bool on,
                               std::uint32_t state, const WordsOfLanes& words) {
  const std::uint32_t head =
      store_states(on, state, task.heads + std::uint64_t{number} * most_head_words);
  if (threadIdx.x % 32 != 0) return;
  task.words[number] = words.segment(head);
  task.sizes[number] = task.words[number].bytes();
}

/// A warp a segment of tokens.
__global__ void __launch_bounds__(WordsPolicy::threads)
    encode_token_segments(const __grid_constant__ ChainsTask task) {
  __shared__ PackedSymbolShare shares[word_classes][token_places + 1];  // that of no point behind
  for (unsigned i = threadIdx.x; i < word_classes * (token_places + 1); i += WordsPolicy::threads) {
    const unsigned number = i / (token_places + 1);
    const unsigned token = i % (token_places + 1);
    shares[number][token] = token == absent_token ? PackedSymbolShare{}
                                                  : task.all.tokens[number * token_places + token];
  }
  __syncthreads();
  const std::uint32_t segment = blockIdx.x * WordsPolicy::warps + threadIdx.x / 32;
  if (segment >= task.token_segments) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = segment * task.segment_blocks();
  const std::uint32_t count = min(task.segment_blocks(), task.all.live - first);
  const std::uint32_t rounds = (count + 31) / 32;
  const std::uint32_t of_lane = lane < count ? (count - lane + 31) / 32 : 0;
  const std::uint32_t* const numbers = task.blocks.live + first + lane;
  WordsOfLanes words(task.token_words + std::uint64_t{first} * word_block + segment * spare_words +
                     (count * word_block + spare_words));
  std::uint32_t state = lane_start;
  constexpr int tokens_at_once = sizeof(uint4);
  constexpr int last_batch = static_cast<int>(word_block) / tokens_at_once - 1;
  const auto block_of = [&](std::uint32_t round) {
    return round < of_lane ? numbers[round * 32] : task.blocks.live[first];
  };
  const auto load = [&](std::uint32_t block, int batch) {
    return __ldg(
        reinterpret_cast<const uint4*>(task.blocks.tokens + std::uint64_t{block} * word_block) +
        batch);
  };
  std::uint32_t block = block_of(rounds - 1);
  uint4 next = load(block, last_batch);
  CUSZI_NO_UNROLL
  for (std::uint32_t round = rounds; round-- > 0;) {
    const bool exists = round < of_lane;
    const PackedSymbolShare* const own = shares[task.blocks.classes[block]];
    const std::uint32_t before = block_of(round > 0 ? round - 1 : 0);
    CUSZI_NO_UNROLL
    for (int batch = last_batch; batch >= 0; --batch) {
      const std::uint32_t four[] = {next.x, next.y, next.z, next.w};
      next = batch > 0 ? load(block, batch - 1) : load(before, last_batch);
      PackedSymbolShare batch_shares[tokens_at_once];
      CUSZI_UNROLL
      for (int i = 0; i < tokens_at_once; ++i)
        batch_shares[i] = own[exists ? four[i / 4] >> (i % 4 * 8) & 0xFFU : absent_token];
      words.put(batch_shares, state);
    }
    block = before;
  }
  finish_segment(task, task.class_segments + segment, lane < count, state, words);
}

/// A warp a segment of classes.
__global__ void __launch_bounds__(32) encode_classes(const __grid_constant__ ChainsTask task) {
  const std::uint32_t segment = blockIdx.x;
  const unsigned lane = threadIdx.x;
  constexpr auto run = static_cast<std::uint32_t>(blocks_of_class_lane);
  const std::uint32_t blocks = task.all.blocks;
  const std::uint64_t begin = (std::uint64_t{segment} * 32 + lane) * run;
  const std::uint32_t steps =
      begin < blocks ? static_cast<std::uint32_t>(min(blocks - begin, std::uint64_t{run})) : 0;
  const std::uint8_t* const classes = task.blocks.classes + begin;
  WordsOfLanes words(task.class_words + (segment + std::uint64_t{1}) * class_segment_words);
  std::uint32_t state = lane_start;
  CUSZI_NO_UNROLL
  for (std::uint32_t first = run; first > 0;) {
    first -= class_batch;
    std::uint32_t number[class_batch + 1] = {};  // the one before, then these
    if (first < steps) {
      const uint4 loaded = *reinterpret_cast<const uint4*>(classes + first);
      const std::uint32_t four[] = {loaded.x, loaded.y, loaded.z, loaded.w};
      if (first != 0) number[0] = classes[first - 1];
      CUSZI_UNROLL
      for (unsigned i = 0; i < class_batch; ++i) number[i + 1] = four[i / 4] >> (i % 4 * 8) & 0xFFU;
    }
    PackedSymbolShare shares[class_batch];
    CUSZI_UNROLL
    for (unsigned i = 0; i < class_batch; ++i)
      if (first + i < steps) shares[i] = task.all.classes[number[i] * token_places + number[i + 1]];
    words.put(shares, state);
  }
  finish_segment(task, segment, steps != 0, state, words);
}

/// A thread a segment of tokens: the bytes of its raw bits.
__global__ void __launch_bounds__(ItemPolicy::threads)
    size_raw_bits(const __grid_constant__ ChainsTask task) {
  const std::uint64_t segment = ItemPolicy::first();
  if (segment >= task.token_segments) return;
  const std::uint64_t first = segment * task.segment_blocks();
  const std::uint64_t last = min(first + task.segment_blocks(), std::uint64_t{task.all.live}) - 1;
  const BitCount bits = task.blocks.raw_before[task.blocks.live[last] + 1] -
                        task.blocks.raw_before[task.blocks.live[first]];
  task.sizes[task.class_segments + task.token_segments + segment] =
      static_cast<std::uint32_t>(raw_bytes_of(bits));
}

constexpr unsigned raw_lanes = 8;  ///< of a block

/// Eight lanes a block that has tokens: its raw bits, to those of its segment, which are 0 before.
/// Blocks share their first and last words with others.
__global__ void __launch_bounds__(ItemPolicy::threads)
    place_raw_bits(const __grid_constant__ ChainsTask task) {
  const TokenBlocks& blocks = task.blocks;
  const std::uint64_t number = ItemPolicy::first() / raw_lanes;
  if (number >= task.all.live) return;
  const std::uint32_t segment = static_cast<std::uint32_t>(number) / task.segment_blocks();
  const std::uint32_t block = blocks.live[number];
  const std::uint32_t first_block = blocks.live[segment * task.segment_blocks()];
  const BitCount begin =
      8 * task.raw_at[segment] + (blocks.raw_before[block] - blocks.raw_before[first_block]);
  const auto open = static_cast<std::uint32_t>(begin % 32);
  const std::uint32_t bits = blocks.raw_bits[block];
  const std::uint32_t words = (bits + 31) / 32;
  const std::uint32_t* const from = blocks.raw + std::uint64_t{block} * blocks.raw_words;
  std::uint32_t* const to = task.raw + begin / 32;
  for (std::uint32_t i = threadIdx.x % raw_lanes; 32 * i < open + bits; i += raw_lanes) {
    const std::uint32_t low = i > 0 ? from[i - 1] : 0;
    const std::uint32_t word = __funnelshift_l(low, i < words ? from[i] : 0, open);
    const bool is_shared = 32 * i < open || 32 * (i + 1) > open + bits;
    if (!is_shared)
      to[i] = word;
    else if (word != 0)
      atomicOr(to + i, word);
  }
}

/// A thread block a segment.
__global__ void __launch_bounds__(128)
    store_lane_words(const LaneWords* words, const std::uint32_t* heads,
                     const std::uint64_t* offsets, std::uint32_t* out) {
  const std::uint32_t number = blockIdx.x;
  store_segment(words[number], heads + std::uint64_t{number} * most_head_words,
                out + offsets[number] / 4);
}

Bytes bytes_at(const void* begin, ByteCount size) {
  return {static_cast<const std::byte*>(begin), size};
}

}  // namespace

WordSections<Bytes> encode_tokens(DeviceContext& gpu, const TokenBlocks& blocks,
                                  const WordsToCode& all) {
  ChainsTask task{};
  task.blocks = blocks;
  task.all = all;
  task.class_segments = grid_of(ceil_div(all.blocks, class_segment_words));
  task.token_segments = ceil_div(all.live, 32 * all.blocks_of_lane);
  const std::uint32_t segments = task.class_segments + task.token_segments;
  const ByteCount raw_capacity = all.raw_bits / 8 + 8 * std::uint64_t{task.token_segments} + 8;
  auto* const raw_at = gpu.take<std::uint64_t>(std::uint64_t{task.token_segments} + 1);
  auto* const offsets = gpu.take<std::uint64_t>(std::uint64_t{segments} + 1);
  task.raw_at = raw_at;
  task.class_words = gpu.take<std::uint16_t>(task.class_segments * class_segment_words + 2);
  task.token_words = gpu.take<std::uint16_t>(std::uint64_t{all.live} * word_block +
                                             task.token_segments * spare_words + 2);
  task.heads = gpu.take<std::uint32_t>(std::uint64_t{segments} * most_head_words);
  task.words = gpu.take<LaneWords>(segments);
  task.sizes = gpu.take<std::uint32_t>(std::uint64_t{segments} + task.token_segments);
  gpu.streams().fork([&] {
    encode_classes<<<task.class_segments, 32, 0, gpu.stream()>>>(task);
    check_launch("encode_classes");
    if (task.token_segments == 0) return;
    task.raw = gpu.take_zeroed<std::uint32_t>(ceil_div(raw_capacity, 4U));
    launch_items(gpu, "size_raw_bits", task.token_segments, size_raw_bits, task);
    exclusive_sums(gpu, task.sizes + segments, task.token_segments, raw_at);
    launch_items(gpu, "place_raw_bits", std::uint64_t{all.live} * raw_lanes, place_raw_bits, task);
  });
  if (task.token_segments != 0) {
    encode_token_segments<<<blocks_for(task.token_segments, WordsPolicy::warps),
                            WordsPolicy::threads, 0, gpu.stream()>>>(task);
    check_launch("encode_token_segments");
  }
  gpu.streams().join();
  exclusive_sums(gpu, task.sizes, segments, offsets);
  const std::uint64_t& classes_end = *download(gpu, offsets + task.class_segments, 1);
  const std::uint64_t& tokens_end = *download(gpu, offsets + segments, 1);
  const std::uint64_t* const raw_end =
      task.token_segments == 0 ? nullptr : download(gpu, raw_at + task.token_segments, 1);
  gpu.sync();
  auto* const chains = gpu.take<std::byte>(tokens_end);
  store_lane_words<<<segments, 128, 0, gpu.stream()>>>(task.words, task.heads, offsets,
                                                       reinterpret_cast<std::uint32_t*>(chains));
  check_launch("store_lane_words");
  WordSections<Bytes> sections;
  sections.index = bytes_at(task.sizes, 4 * (std::uint64_t{segments} + task.token_segments));
  sections.classes = bytes_at(chains, classes_end);
  sections.codes = bytes_at(chains + classes_end, tokens_end - classes_end);
  sections.raw = bytes_at(task.raw, raw_end == nullptr ? 0 : *raw_end);
  return sections;
}

}  // namespace cuszi::gpu
