#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned class_batch = 16;  ///< classes of a lane that are loaded at once
static_assert(blocks_of_class_lane % class_batch == 0);
constexpr std::uint64_t class_segment_words = most_lanes * blocks_of_class_lane;
constexpr std::uint64_t spare_words = 64;  ///< of a segment

template <class Word>
struct ChainsTask {
  DeviceBlocks<Word> blocks;
  WordsToCode all;
  const std::uint64_t* raw_at;  ///< bytes before those of a segment of tokens
  std::uint64_t* raw;           ///< 0 before
  std::uint16_t* class_words;
  std::uint16_t* token_words;
  std::uint32_t class_segments;
  std::uint32_t token_segments;
  std::uint32_t* states;  ///< [segment][lane], those of classes first
  LaneWords* words;       ///< [segment]
  std::uint32_t* sizes;   ///< likewise; those of raw bits behind

  __device__ std::uint32_t segment_blocks() const { return 32 * all.blocks_of_lane; }
};

template <class Word>
__device__ void finish_segment(const ChainsTask<Word>& task, std::uint32_t number,
                               std::uint32_t state, const LaneWords& words) {
  const unsigned lane = threadIdx.x % 32;
  task.states[number * 32 + lane] = state;
  if (lane != 0) return;
  task.words[number] = words;
  task.sizes[number] = words.bytes();
}

/// The raw bits of a block, from the last to the first. Others write to its first and last word,
/// too.
class RawBitsBackwards {
 public:
  __device__ RawBitsBackwards(std::uint64_t* words, BitCount begin, BitCount end)
      : words_(words + begin / 64), at_(static_cast<std::uint32_t>(begin % 64 + (end - begin))) {
    current_ = at_ / 64;
    last_ = current_;
  }

  /// `value` is below 2^bits; up to 64 bits.
  __device__ void put(std::uint64_t value, std::uint32_t bits) {
    at_ -= bits;
    const std::uint32_t shift = at_ % 64;
    if (at_ / 64 != current_) {
      if (shift != 0) pending_ |= value >> (64 - shift);
      flush();
      pending_ = 0;
      current_ = at_ / 64;
    }
    pending_ |= value << shift;
  }
  __device__ void flush() {
    if (current_ == 0 || current_ == last_)
      atomicOr(reinterpret_cast<unsigned long long*>(words_ + current_), pending_);
    else
      words_[current_] = pending_;
  }

 private:
  std::uint64_t* words_;
  std::uint32_t at_;
  std::uint32_t current_;
  std::uint32_t last_;
  std::uint64_t pending_ = 0;
};

/// Words of a block that are loaded at once.
template <class Word>
struct WordBatch {
  static constexpr int count = 32 / sizeof(Word);

  uint4 parts[2];

  __device__ WordBatch(const Word* from) {
    const auto* const aligned = reinterpret_cast<const uint4*>(from);
    parts[0] = __ldg(aligned);
    parts[1] = __ldg(aligned + 1);
  }
  __device__ Word operator[](int i) const {
    const std::uint32_t words[] = {parts[0].x, parts[0].y, parts[0].z, parts[0].w,
                                   parts[1].x, parts[1].y, parts[1].z, parts[1].w};
    if constexpr (sizeof(Word) == 4)
      return words[i];
    else
      return words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
  }
};

/// A warp a segment of tokens.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    encode_tokens(const __grid_constant__ ChainsTask<Word> task) {
  using Batch = WordBatch<Word>;
  __shared__ PackedSymbolShare shares[word_classes][token_places + 1];
  for (unsigned i = threadIdx.x; i < word_classes * token_places; i += WordsPolicy::threads)
    shares[i / token_places][i % token_places] = task.all.tokens[i];
  __syncthreads();
  const std::uint32_t segment = blockIdx.x * WordsPolicy::warps + threadIdx.x / 32;
  if (segment >= task.token_segments) return;
  const DeviceBlocks<Word>& blocks = task.blocks;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = segment * task.segment_blocks();
  const std::uint32_t count = min(task.segment_blocks(), task.all.live - first);
  const std::uint32_t rounds = (count + 31) / 32;
  const std::uint32_t of_lane = lane < count ? (count - lane + 31) / 32 : 0;
  const std::uint32_t* const numbers = blocks.live + first + lane;
  const std::uint32_t first_block = blocks.live[first];
  const BitCount raw_begin = 8 * task.raw_at[segment] - blocks.raw_before[first_block];
  WordsOfLanes words(task.token_words + std::uint64_t{first} * word_block + segment * spare_words +
                     (count * word_block + spare_words));
  std::uint32_t state = lane_start;
  const auto block_of = [&](std::uint32_t round) {
    return round < of_lane ? numbers[round * 32] : first_block;
  };
  const auto load = [&](std::uint32_t block, int batch) {
    return Batch(blocks.words + std::uint64_t{block} * word_block + batch * Batch::count);
  };
  constexpr int last_batch = static_cast<int>(word_block) / Batch::count - 1;
  std::uint32_t block = block_of(rounds - 1);
  Batch next = load(block, last_batch);
  CUSZI_NO_UNROLL
  for (std::uint32_t round = rounds; round-- > 0;) {
    const std::uint32_t points = round < of_lane ? blocks.points[block] : 0;
    const std::uint32_t number = blocks.classes[block];
    const unsigned octave = octave_of_class(number);
    const PackedSymbolShare* const own = shares[number];
    RawBitsBackwards raw(task.raw, raw_begin + blocks.raw_before[block],
                         raw_begin + blocks.raw_before[block + 1]);
    const std::uint32_t before = round > 0 ? block_of(round - 1) : first_block;
    CUSZI_NO_UNROLL
    for (int batch = last_batch; batch >= 0; --batch) {
      const Batch now = next;
      next = batch > 0 ? load(block, batch - 1) : load(before, last_batch);
      CUSZI_UNROLL
      for (int i = Batch::count; i-- > 0;) {
        PackedSymbolShare share;
        if (static_cast<unsigned>(batch * Batch::count + i) < points) {
          const Word word = now[i];
          const WordToken token = token_of_word(magnitude_of_word(word), is_negative(word), octave);
          raw.put(token.raw, token.raw_bits);
          share = own[token.token];
        }
        words.put(share, state);
      }
    }
    if (points != 0) raw.flush();
    block = before;
  }
  finish_segment(task, task.class_segments + segment, state, words.segment(min(count, 32U)));
}

/// A warp a segment of classes.
template <class Word>
__global__ void __launch_bounds__(32)
    encode_classes(const __grid_constant__ ChainsTask<Word> task) {
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
    CUSZI_UNROLL
    for (unsigned i = class_batch; i-- > 0;) words.put(shares[i], state);
  }
  const auto lanes = static_cast<unsigned>(__popc(__ballot_sync(~0U, steps != 0)));
  finish_segment(task, segment, state, words.segment(lanes));
}

/// A thread a segment of tokens: the bytes of its raw bits.
template <class Word>
__global__ void __launch_bounds__(ItemPolicy::threads)
    size_raw_bits(const __grid_constant__ ChainsTask<Word> task) {
  const std::uint64_t segment = ItemPolicy::first();
  if (segment >= task.token_segments) return;
  const std::uint64_t first = segment * task.segment_blocks();
  const std::uint64_t last = min(first + task.segment_blocks(), std::uint64_t{task.all.live}) - 1;
  const BitCount bits = task.blocks.raw_before[task.blocks.live[last] + 1] -
                        task.blocks.raw_before[task.blocks.live[first]];
  task.sizes[task.class_segments + task.token_segments + segment] =
      static_cast<std::uint32_t>(raw_bytes_of(bits));
}

/// A thread block a segment.
__global__ void __launch_bounds__(128)
    store_lane_words(const LaneWords* words, const std::uint32_t* states,
                     const std::uint64_t* offsets, std::uint32_t* out) {
  const std::uint32_t number = blockIdx.x;
  store_segment(words[number], states + std::uint64_t{number} * 32, out + offsets[number] / 4);
}

Bytes bytes_at(const void* begin, ByteCount size) {
  return {static_cast<const std::byte*>(begin), size};
}

}  // namespace

template <class Word>
WordSections<Bytes> encode_words(DeviceContext& gpu, const DeviceBlocks<Word>& blocks,
                                 const WordsToCode& all) {
  ChainsTask<Word> task{};
  task.blocks = blocks;
  task.all = all;
  task.class_segments = grid_of(ceil_div(all.blocks, class_segment_words));
  task.token_segments = ceil_div(all.live, 32 * all.blocks_of_lane);
  const std::uint32_t segments = task.class_segments + task.token_segments;
  const ByteCount raw_capacity = all.raw_bits / 8 + 8 * std::uint64_t{task.token_segments} + 8;
  auto* const raw_at = gpu.take<std::uint64_t>(std::uint64_t{task.token_segments} + 1);
  auto* const offsets = gpu.take<std::uint64_t>(std::uint64_t{segments} + 1);
  task.raw_at = raw_at;
  task.raw = gpu.take_zeroed<std::uint64_t>(ceil_div(raw_capacity, 8U));
  task.class_words = gpu.take<std::uint16_t>(task.class_segments * class_segment_words + 2);
  task.token_words = gpu.take<std::uint16_t>(std::uint64_t{all.live} * word_block +
                                             task.token_segments * spare_words + 2);
  task.states = gpu.take<std::uint32_t>(std::uint64_t{segments} * 32);
  task.words = gpu.take<LaneWords>(segments);
  task.sizes = gpu.take<std::uint32_t>(std::uint64_t{segments} + task.token_segments);
  gpu.streams().fork([&] {
    encode_classes<Word><<<task.class_segments, 32, 0, gpu.stream()>>>(task);
    check_launch("encode_classes");
  });
  if (task.token_segments != 0) {
    launch_items(gpu, "size_raw_bits", task.token_segments, size_raw_bits<Word>, task);
    exclusive_sums(gpu, task.sizes + segments, task.token_segments, raw_at);
    encode_tokens<Word><<<blocks_for(task.token_segments, WordsPolicy::warps), WordsPolicy::threads,
                          0, gpu.stream()>>>(task);
    check_launch("encode_tokens");
  }
  gpu.streams().join();
  exclusive_sums(gpu, task.sizes, segments, offsets);
  const std::uint64_t& classes_end = *download(gpu, offsets + task.class_segments, 1);
  const std::uint64_t& tokens_end = *download(gpu, offsets + segments, 1);
  const std::uint64_t* const raw_end =
      task.token_segments == 0 ? nullptr : download(gpu, raw_at + task.token_segments, 1);
  gpu.sync();
  auto* const chains = gpu.take<std::byte>(tokens_end);
  store_lane_words<<<segments, 128, 0, gpu.stream()>>>(task.words, task.states, offsets,
                                                       reinterpret_cast<std::uint32_t*>(chains));
  check_launch("store_lane_words");
  WordSections<Bytes> sections;
  sections.index = bytes_at(task.sizes, 4 * (std::uint64_t{segments} + task.token_segments));
  sections.classes = bytes_at(chains, classes_end);
  sections.codes = bytes_at(chains + classes_end, tokens_end - classes_end);
  sections.raw = bytes_at(task.raw, raw_end == nullptr ? 0 : *raw_end);
  return sections;
}

template WordSections<Bytes> encode_words(DeviceContext&, const DeviceBlocks<std::uint32_t>&,
                                          const WordsToCode&);
template WordSections<Bytes> encode_words(DeviceContext&, const DeviceBlocks<std::uint64_t>&,
                                          const WordsToCode&);

}  // namespace cuszi::gpu
