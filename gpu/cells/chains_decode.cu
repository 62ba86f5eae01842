#include "gpu/cells/chains_decode.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr int store_batch = 8;         ///< codes of a lane that are stored at once
constexpr unsigned ring_words = 512;   ///< of 16 bits
constexpr unsigned loaded_words = 64;  ///< at once
constexpr int codes_of_top_up = 4;     ///< of up to 64 words each
/// Words that must be there. Those that a step before may still read are not overwritten.
constexpr unsigned enough_words = ring_words - loaded_words - 64;
static_assert(codes_of_top_up * 64 <= enough_words);

/// A part of a frame's bytes by words of 32 bits; reads none behind its end.
class UnalignedWords {
 public:
  __device__ UnalignedWords(const std::byte* bytes, std::uint32_t count)
      : bytes_(bytes),
        count_(count),
        shift_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(bytes) % 4) * 8),
        aligned_(reinterpret_cast<const std::uint32_t*>(bytes - shift_ / 8)) {}

  __device__ std::uint32_t operator[](std::uint32_t i) const {
    if (i + 1 < count_) {
      const std::uint32_t low = __ldg(aligned_ + i);
      return shift_ == 0 ? low : __funnelshift_r(low, __ldg(aligned_ + i + 1), shift_);
    }
    return i < count_ ? static_cast<std::uint32_t>(get_bytes(bytes_ + 4 * std::uint64_t{i}, 4)) : 0;
  }
  __device__ std::uint32_t count() const { return count_; }

 private:
  const std::byte* bytes_;
  std::uint32_t count_;
  unsigned shift_;
  const std::uint32_t* aligned_;
};

/// The words of a segment as a warp takes them, by a ring in shared memory that is filled
/// ahead.
class RingWords {
 public:
  __device__ RingWords(const UnalignedWords& from, std::uint32_t first, std::uint32_t* ring)
      : from_(from), next_(first + lane()), ring_(ring), below_((1U << lane()) - 1) {
    for (unsigned i = 0; i < ring_words; i += loaded_words) {
      ring_[i / 2 + lane()] = from_[next_];
      next_ += 32;
    }
    have_ = ring_words;
    ahead_ = from_[next_];
    __syncwarp();
  }

  /// Makes sure of the words of `codes_of_top_up` codes.
  __device__ void top_up() {
    while (have_ - at_ <= enough_words) {
      __syncwarp();
      ring_[have_ / 2 % (ring_words / 2) + lane()] = ahead_;
      have_ += loaded_words;
      next_ += 32;
      ahead_ = from_[next_];
      __syncwarp();
    }
  }

  /// Gives the next word to every lane whose state is too low, in the order of lanes.
  __device__ void refill(std::uint32_t& state) {
    const bool is_low = needs_refill(state);
    const unsigned low = __ballot_sync(~0U, is_low);
    if (low == 0) return;
    const unsigned at = (at_ + static_cast<unsigned>(__popc(low & below_))) % ring_words;
    if (is_low) state = refilled(state, reinterpret_cast<const std::uint16_t*>(ring_)[at]);
    at_ += static_cast<unsigned>(__popc(low));
  }

  __device__ std::uint32_t taken() const { return at_; }

 private:
  __device__ static unsigned lane() { return threadIdx.x % 32; }

  const UnalignedWords& from_;
  std::uint32_t next_;
  std::uint32_t* ring_;
  unsigned below_;
  std::uint32_t at_ = 0;
  std::uint32_t have_;
  std::uint32_t ahead_;
};

/// A segment: its bytes as the index tells, checked.
struct SegmentBytes {
  const std::byte* begin = nullptr;
  std::uint32_t words = 0;  ///< of 32 bits
  bool is_good = false;

  /// Segment `number` of those of a section, which have the entries of the index from `first` on.
  __device__ SegmentBytes(const ChainDecodeTask& task, std::uint32_t number, std::uint32_t first,
                          std::uint32_t count, const std::byte* section, ByteCount size,
                          std::uint32_t lanes) {
    const std::uint64_t* const offsets = task.offsets + first;
    const std::uint32_t own = task.sizes[first + number];
    is_good = own % 4 == 0 && own >= 4 * lanes && offsets[count] - offsets[0] == size;
    begin = section + (offsets[number] - offsets[0]);
    words = own / 4;
  }
};

/// Whether a segment has ended as it should: every lane in its first state, all words taken.
__device__ bool ends_well(std::uint32_t state, std::uint32_t lanes, const RingWords& ring,
                          const UnalignedWords& words) {
  const std::uint32_t taken = ring.taken();
  const bool is_padded = taken % 2 != 0;
  const bool all_taken = (taken + 1) / 2 == words.count() - lanes;
  const bool is_zero = !is_padded || !all_taken || words[words.count() - 1] >> 16 == 0;
  return __all_sync(~0U, state == lane_start) && all_taken && is_zero;
}

/// Takes a symbol of a lane's table out of its state.
__device__ std::uint32_t take_symbol(const std::uint8_t* symbols, const std::uint32_t* shares,
                                     bool on, std::uint32_t& state, RingWords& words) {
  const std::uint32_t slot = state % cells_probability_one;
  const std::uint32_t symbol = symbols[slot];
  const std::uint32_t share = shares[symbol];
  if (on) state = without_symbol(state, {share & 0xFFFFU, share >> 16});
  words.refill(state);
  return symbol;
}

/// Tables of a block's warps, copied to shared memory.
template <unsigned places>
struct SharedTables {
  std::uint8_t symbols[class_count][cells_probability_one];
  std::uint32_t shares[class_count][places];

  __device__ void load(const std::uint8_t* from_symbols, const std::uint32_t* from_shares) {
    const auto* const from = reinterpret_cast<const uint4*>(from_symbols);
    auto* const to = reinterpret_cast<uint4*>(&symbols[0][0]);
    for (unsigned i = threadIdx.x; i < sizeof symbols / 16; i += blockDim.x) to[i] = from[i];
    for (unsigned i = threadIdx.x; i < class_count * places; i += blockDim.x)
      shares[i / places][i % places] = from_shares[i];
    __syncthreads();
  }
};

/// The contexts of a lane's classes, which it decodes one after the other. What follows from the
/// pass before is looked up a batch ahead.
class ContextWalk {
 public:
  static constexpr unsigned batch = 8;
  static_assert(most_run_classes % batch == 0);

  __device__ ContextWalk(const CellsChains& chains, const ClassRuns& runs,
                         const SharedParents& parents)
      : parents_(parents),
        row_(chains.classes + std::uint64_t{runs.first_tile} * tile_blocks),
        ahead_row_(row_),
        first_(runs.first_block),
        end_(runs.first_block + runs.classes_of_tile),
        block_(first_),
        ahead_(first_),
        left_(runs.steps()),
        ahead_left_(left_) {
    look_ahead();
  }

  /// Goes to the next batch.
  __device__ void advance() {
    CUSZI_UNROLL
    for (unsigned i = 0; i < batch; ++i) now_[i] = next_[i];
    follows_now_ = follows_next_;
    look_ahead();
  }
  __device__ bool goes_on() const { return left_ != 0; }
  /// Of the i-th class of the batch; 0 behind the last one.
  __device__ std::uint32_t context(unsigned i) const {
    if (first_ == 0) return goes_on() ? last_ : 0;  // of the tile before
    return ((follows_now_ >> i & 1) != 0 ? last_ + now_[i] + 1 : 2 * now_[i] + 1) / 2;
  }
  __device__ void put(std::uint32_t symbol) {
    row_[block_] = static_cast<std::uint8_t>(symbol);
    last_ = symbol;
    --left_;
    step(block_, row_);
  }

 private:
  __device__ void step(std::uint32_t& block, std::uint8_t*& row) const {
    if (++block == end_) {
      block = first_;
      row += tile_blocks;
    }
  }
  __device__ void look_ahead() {
    follows_next_ = 0;
    CUSZI_UNROLL
    for (unsigned i = 0; i < batch; ++i) {
      next_[i] = 0;
      if (first_ == 0 || ahead_left_ == 0) continue;
      --ahead_left_;
      if (parents_.before[ahead_] + 1U == ahead_ && ahead_ != first_) follows_next_ |= 1U << i;
      next_[i] = ahead_row_[parents_.parent[ahead_]];
      step(ahead_, ahead_row_);
    }
  }

  const SharedParents& parents_;
  std::uint8_t* row_;
  std::uint8_t* ahead_row_;
  std::uint32_t first_;
  std::uint32_t end_;
  std::uint32_t block_;
  std::uint32_t ahead_;
  std::uint32_t left_;
  std::uint32_t ahead_left_;
  std::uint32_t last_ = 0;
  std::uint32_t now_[batch];
  std::uint32_t next_[batch];
  std::uint32_t follows_now_ = 0;
  std::uint32_t follows_next_ = 0;
};

constexpr unsigned class_warps = 2;  ///< of a block: chains of classes are few, and long

/// A warp a segment of the classes of a pass.
__global__ void __launch_bounds__(32 * class_warps)
    decode_classes_of_pass(const __grid_constant__ ChainDecodeTask task, int pass) {
  extern __shared__ uint4 table_memory[];
  auto& tables = *reinterpret_cast<SharedTables<class_places>*>(table_memory);
  __shared__ std::uint32_t rings[class_warps][ring_words / 2];
  __shared__ SharedParents parents;
  parents.fill(task.chains.rank);
  tables.load(task.class_symbols, task.class_shares);
  const CellsChains& chains = task.chains;
  const std::uint32_t number = blockIdx.x * class_warps + threadIdx.x / 32;
  if (number >= chains.segments[pass].of_classes) return;
  const ClassRuns runs(chains, pass, number);
  const PassSegments& segments = chains.segments[pass];
  const SegmentBytes bytes(task, number, segments.first, segments.of_classes,
                           task.bytes[pass].classes, task.bytes[pass].class_bytes, runs.lanes);
  if (!bytes.is_good) {
    if (threadIdx.x % 32 == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  RingWords ring(words, runs.lanes, rings[threadIdx.x / 32]);
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t state = lane < runs.lanes ? words[lane] : lane_start;
  ContextWalk walk(chains, runs, parents);
  CUSZI_NO_UNROLL
  for (std::uint32_t left = runs.tiles_of_run * runs.classes_of_tile; left > 0;
       left -= ContextWalk::batch) {
    walk.advance();
    CUSZI_UNROLL
    for (unsigned i = 0; i < ContextWalk::batch; ++i) {
      const bool on = walk.goes_on();
      const std::uint32_t context = walk.context(i);
      if (i % codes_of_top_up == 0) ring.top_up();
      const std::uint32_t symbol =
          take_symbol(tables.symbols[context], tables.shares[context], on, state, ring);
      if (on) walk.put(symbol);
    }
  }
  if (!ends_well(state, runs.lanes, ring, words) && lane == 0) {
    atomicOr(chains.flaws, bad_ans_segment);
  }
}

/// The least class that can have a code that is not small.
constexpr std::uint32_t least_raw_class = 8;

/// A code of a lane, 0 unless it has one.
template <bool may_be_large>
__device__ int take_code(const std::uint8_t* symbols, const std::uint32_t* shares, bool on,
                         std::uint32_t& state, RingWords& ring) {
  const std::uint32_t token = take_symbol(symbols, shares, on, state, ring);
  int code = on ? code_of_small_token(token) : 0;
  if constexpr (may_be_large) {
    const bool is_large = on && token >= small_tokens;
    if (__any_sync(~0U, is_large)) {
      if (is_large) {
        const std::uint32_t bits = raw_bits_of_code_token(token);
        code = code_of_token(token, state & ((1U << bits) - 1));
        state >>= bits;
      }
      ring.refill(state);
    }
  }
  return code;
}

/// The codes of a block of every lane, of which those with a bit are coded; others are 0.
template <bool may_be_large>
__device__ void take_block(const std::uint8_t* symbols, const std::uint32_t* shares, bool on,
                           std::uint64_t coded, std::uint32_t& state, RingWords& ring, uint4* out) {
  CUSZI_NO_UNROLL
  for (int i = 0; i < cell_block_codes / store_batch; ++i) {
    const auto own = static_cast<unsigned>(coded >> (i * store_batch));
    std::uint32_t pairs[store_batch / 2];
    CUSZI_UNROLL
    for (int j = 0; j < store_batch / 2; ++j) {
      if (j % (codes_of_top_up / 2) == 0) ring.top_up();
      const auto take = [&](int k) {
        return take_code<may_be_large>(symbols, shares, (own >> k & 1) != 0, state, ring);
      };
      const int low = take(2 * j);
      const int high = take(2 * j + 1);
      pairs[j] = __byte_perm(static_cast<unsigned>(low), static_cast<unsigned>(high), 0x5410);
    }
    if (on) out[i] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

__global__ void __launch_bounds__(32 * CellsPolicy::decoder_warps)
    decode_code_segments(const __grid_constant__ ChainDecodeTask task) {
  extern __shared__ uint4 table_memory[];
  auto& tables = *reinterpret_cast<SharedTables<token_places>*>(table_memory);
  __shared__ std::uint32_t rings[CellsPolicy::decoder_warps][ring_words / 2];
  tables.load(task.code_symbols, task.code_shares);
  const CellsChains& chains = task.chains;
  const std::uint32_t blocks_of_lane = *chains.blocks_of_lane;
  std::uint32_t number = blockIdx.x * CellsPolicy::decoder_warps + threadIdx.x / 32;
  int pass = 0;
  if (!find_pass(chains, number, pass, [&](int p) { return chains.segments[p].of_codes; })) return;
  const unsigned lane = threadIdx.x % 32;
  if (chains.code_segments(pass, blocks_of_lane) != chains.segments[pass].of_codes) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const CodeBlocks blocks(chains, pass, number, blocks_of_lane);
  const PassSegments& segments = chains.segments[pass];
  const SegmentBytes bytes(task, number, segments.first + segments.of_classes, segments.of_codes,
                           task.bytes[pass].codes, task.bytes[pass].code_bytes, blocks.lanes);
  if (!bytes.is_good) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  RingWords ring(words, blocks.lanes, rings[threadIdx.x / 32]);
  std::uint32_t state = lane < blocks.lanes ? words[lane] : lane_start;
  const auto block_of = [&](std::uint32_t round) {
    return round < blocks.of_lane ? blocks.numbers[round * 32] : 0;
  };
  std::uint32_t next = block_of(0);
  std::uint32_t next_kind = chains.classes[next];
  std::uint64_t next_coded = chains.coded_of(next);
  CUSZI_NO_UNROLL
  for (std::uint32_t round = 0; round < blocks.rounds; ++round) {
    const bool on = round < blocks.of_lane;
    const std::uint32_t block = next;
    const std::uint32_t kind = on ? next_kind : 0;
    const std::uint64_t coded = on ? next_coded : 0;
    next = block_of(round + 1);
    next_kind = chains.classes[next];
    next_coded = chains.coded_of(next);
    auto* const out =
        reinterpret_cast<uint4*>(chains.codes + std::uint64_t{block} * cell_block_codes);
    if (__any_sync(~0U, kind >= least_raw_class)) {
      take_block<true>(tables.symbols[kind], tables.shares[kind], on, coded, state, ring, out);
    } else {
      take_block<false>(tables.symbols[kind], tables.shares[kind], on, coded, state, ring, out);
    }
  }
  if (!ends_well(state, blocks.lanes, ring, words) && lane == 0) {
    atomicOr(chains.flaws, bad_ans_segment);
  }
}

/// Allows a kernel this much shared memory.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "allow shared memory");
}

}  // namespace

void decode_classes(DeviceContext& gpu, const ChainDecodeTask& task) {
  constexpr std::size_t shared = sizeof(SharedTables<class_places>);
  allow_shared(decode_classes_of_pass, shared);
  for (int pass = 0; pass < task.chains.passes; ++pass) {
    const std::uint32_t segments = task.chains.segments[pass].of_classes;
    if (segments == 0) continue;
    decode_classes_of_pass<<<blocks_for(segments, class_warps), 32 * class_warps, shared,
                             gpu.stream()>>>(task, pass);
    check_launch("decode_classes_of_pass");
  }
}

void decode_codes(DeviceContext& gpu, const ChainDecodeTask& task) {
  std::uint32_t segments = 0;
  for (int pass = 0; pass < task.chains.passes; ++pass)
    segments += task.chains.segments[pass].of_codes;
  if (segments == 0) return;
  constexpr std::size_t shared = sizeof(SharedTables<token_places>);
  allow_shared(decode_code_segments, shared);
  decode_code_segments<<<blocks_for(segments, CellsPolicy::decoder_warps),
                         32 * CellsPolicy::decoder_warps, shared, gpu.stream()>>>(task);
  check_launch("decode_code_segments");
}

}  // namespace cuszi::gpu
