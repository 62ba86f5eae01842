#include <algorithm>

#include "gpu/cells/coding.cuh"
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

  /// A word that is being loaded.
  struct Loaded {
    std::uint32_t low;
    std::uint32_t high;
  };
  __device__ Loaded load(std::uint32_t i) const {
    Loaded word{0, 0};
    if (i + 1 < count_) word.low = __ldg(aligned_ + i);
    if (i + 1 < count_ && shift_ != 0) word.high = __ldg(aligned_ + i + 1);
    return word;
  }
  /// The i-th word, once it has been loaded; 0 behind the end.
  __device__ std::uint32_t word(std::uint32_t i, const Loaded& loaded) const {
    if (i + 1 == count_)
      return static_cast<std::uint32_t>(get_bytes(bytes_ + 4 * std::uint64_t{i}, 4));
    return __funnelshift_r(loaded.low, loaded.high, shift_);
  }
  __device__ std::uint32_t operator[](std::uint32_t i) const { return word(i, load(i)); }
  __device__ std::uint32_t count() const { return count_; }

 private:
  const std::byte* bytes_;
  std::uint32_t count_;
  unsigned shift_;
  const std::uint32_t* aligned_;
};

/// The words of a segment as a warp takes them, by a ring in shared memory that is filled ahead.
class RingWords {
 public:
  __device__ RingWords(const UnalignedWords& from, std::uint32_t first, std::uint32_t* ring)
      : from_(from), next_(first + lane()), ring_(ring), below_((1U << lane()) - 1) {
    constexpr unsigned at_once = 8;
    static_assert(ring_words % (at_once * loaded_words) == 0);
    CUSZI_NO_UNROLL
    for (have_ = 0; have_ < ring_words;) {
      UnalignedWords::Loaded loaded[at_once];
      CUSZI_UNROLL
      for (unsigned i = 0; i < at_once; ++i) loaded[i] = from_.load(next_ + 32 * i);
      CUSZI_UNROLL
      for (unsigned i = 0; i < at_once; ++i) put(from_.word(next_ + 32 * i, loaded[i]));
      next_ += 32 * at_once;
    }
    ahead_ = from_.load(next_);
    __syncwarp();
  }

  /// Makes sure of the words of `codes_of_top_up` codes.
  __device__ void top_up() {
    CUSZI_NO_UNROLL
    while (have_ - at_ <= enough_words) {
      __syncwarp();
      put(from_.word(next_, ahead_));
      next_ += 32;
      ahead_ = from_.load(next_);
      __syncwarp();
    }
  }

  /// Gives the next word to every lane whose state is too low, in the order of lanes.
  __device__ void refill(std::uint32_t& state) {
    const bool is_low = needs_refill(state);
    const unsigned low = __ballot_sync(~0U, is_low);
    const unsigned at = (at_ + static_cast<unsigned>(__popc(low & below_))) % ring_words;
    if (is_low) state = refilled(state, reinterpret_cast<const std::uint16_t*>(ring_)[at]);
    at_ += static_cast<unsigned>(__popc(low));
  }

  __device__ std::uint32_t taken() const { return at_; }

 private:
  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ void put(std::uint32_t word) {
    ring_[have_ / 2 % (ring_words / 2) + lane()] = word;
    have_ += loaded_words;
  }

  const UnalignedWords& from_;
  std::uint32_t next_;
  std::uint32_t* ring_;
  unsigned below_;
  std::uint32_t at_ = 0;
  std::uint32_t have_;
  UnalignedWords::Loaded ahead_;
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
  const std::uint32_t slot = state % table_probability_one;
  const std::uint32_t symbol = symbols[slot];
  const std::uint32_t share = shares[symbol];
  const std::uint32_t next = without_symbol(state, {share & 0xFFFFU, share >> 16});
  state = on ? next : state;
  words.refill(state);
  return symbol;
}

/// Tables of a block's warps, copied to shared memory. A place more in each row, so that lanes find
/// the same symbol of different tables in different banks.
template <unsigned places>
struct SharedTables {
  std::uint8_t symbols[class_count][table_probability_one];
  std::uint32_t shares[class_count][places + 1];

  __device__ void load(const std::uint8_t* from_symbols, const std::uint32_t* from_shares) {
    const auto* const from = reinterpret_cast<const uint4*>(from_symbols);
    auto* const to = reinterpret_cast<uint4*>(&symbols[0][0]);
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < sizeof symbols / 16; i += blockDim.x) to[i] = from[i];
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < class_count * places; i += blockDim.x)
      shares[i / places][i % places] = from_shares[i];
    __syncthreads();
  }
};

/// The classes of a tile that contexts of a pass follow from: those of the pass before, which lie
/// within 16 bytes.
class CoarseClasses {
 public:
  __device__ explicit CoarseClasses(const ClassRuns& runs)
      : first_(runs.pass == 0 ? 0 : first_block_of_pass(runs.rank, runs.pass - 1) / 16 * 16) {}

  __device__ void load(const std::uint8_t* tile) {
    const uint4 loaded = *reinterpret_cast<const uint4*>(tile + first_);
    words_[0] = loaded.x;
    words_[1] = loaded.y;
    words_[2] = loaded.z;
    words_[3] = loaded.w;
  }
  __device__ std::uint32_t operator[](std::uint32_t block) const {
    const std::uint32_t at = block - first_;
    const std::uint32_t low = at / 4 % 2 == 0 ? words_[0] : words_[1];
    const std::uint32_t high = at / 4 % 2 == 0 ? words_[2] : words_[3];
    return (at < 8 ? low : high) >> (at % 4 * 8) & 0xFFU;
  }

 private:
  std::uint32_t first_;
  std::uint32_t words_[4] = {};
};

/// Decodes the classes of a lane's run of tiles, in step with the other lanes.
__device__ void take_classes(const CellsChains& chains, const ClassRuns& runs,
                             const SharedParents& parents, const SharedTables<class_places>& tables,
                             std::uint32_t& state, RingWords& ring) {
  std::uint8_t* row = chains.classes + std::uint64_t{runs.first_tile} * tile_blocks;
  CoarseClasses coarse(runs);
  CoarseClasses next(runs);
  const std::uint32_t loaded = runs.pass == 0 ? 0 : runs.tiles;
  if (loaded > 0) next.load(row);
  std::uint32_t last = 0;
  CUSZI_NO_UNROLL
  for (std::uint32_t tile = 0; tile < runs.tiles_of_run; ++tile, row += tile_blocks) {
    const bool on = tile < runs.tiles;
    coarse = next;
    if (tile + 1 < loaded) next.load(row + tile_blocks);
    CUSZI_NO_UNROLL
    for (std::uint32_t i = 0; i < runs.classes_of_tile; ++i) {
      ring.top_up();
      const std::uint32_t block = runs.first_block + i;
      const std::uint32_t parent = coarse[parents.parent[block]];
      const bool follows = i > 0 && parents.before[block] + 1U == block;
      const std::uint32_t context = runs.pass == 0 || !on ? last
                                    : follows             ? (last + parent + 1) / 2
                                                          : parent;
      last = take_symbol(tables.symbols[context], tables.shares[context], on, state, ring);
      if (on) row[block] = static_cast<std::uint8_t>(last);
    }
  }
}

/// A warp a segment of the classes of a pass.
template <class Frames>
__global__ void __launch_bounds__(32 * CellsPolicy::class_warps)
    decode_classes_of_pass(const __grid_constant__ Frames frames, int pass) {
  __shared__ alignas(16) std::uint32_t room[Frames::shared_words];
  unsigned unused;
  const ChainDecodeTask& task = frames.find(room, unused);
  extern __shared__ uint4 table_memory[];
  auto& tables = *reinterpret_cast<SharedTables<class_places>*>(table_memory);
  __shared__ std::uint32_t rings[CellsPolicy::class_warps][ring_words / 2];
  __shared__ SharedParents parents;
  parents.fill(task.chains.rank);
  tables.load(task.class_symbols, task.class_shares);
  const CellsChains& chains = task.chains;
  const std::uint32_t number = blockIdx.x * CellsPolicy::class_warps + threadIdx.x / 32;
  if (number >= chains.segments[pass].of_classes) return;
  const ClassRuns runs(chains, pass, number);
  const PassSegments& segments = chains.segments[pass];
  const SegmentBytes bytes(task, number, segments.first, segments.of_classes,
                           task.bytes[pass].classes, task.bytes[pass].class_bytes, runs.lanes);
  const unsigned lane = threadIdx.x % 32;
  if (!bytes.is_good) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  RingWords ring(words, runs.lanes, rings[threadIdx.x / 32]);
  std::uint32_t state = lane < runs.lanes ? words[lane] : lane_start;
  take_classes(chains, runs, parents, tables, state, ring);
  if (!ends_well(state, runs.lanes, ring, words) && lane == 0)
    atomicOr(chains.flaws, bad_ans_segment);
}

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

/// What the warps of a block share.
struct SharedCodes {
  SharedTables<token_places> tables;
  std::uint32_t rings[CellsPolicy::chain_warps][ring_words / 2];
  bool has_large[class_count];  ///< tokens with raw bits

  __device__ void load(const ChainDecodeTask& task) {
    if (threadIdx.x < class_count) has_large[threadIdx.x] = false;
    tables.load(task.code_symbols, task.code_shares);
    for (unsigned i = threadIdx.x; i < class_count * token_places; i += blockDim.x)
      if (i % token_places >= small_tokens &&
          (tables.shares[i / token_places][i % token_places] & 0xFFFFU) != 0)
        has_large[i / token_places] = true;
    __syncthreads();
  }
};

/// Decodes segment `number` of those of codes, by a warp. Returns whether there is one.
__device__ bool decode_segment(const ChainDecodeTask& task, SharedCodes& shared,
                               std::uint32_t number) {
  const CellsChains& chains = task.chains;
  int pass = 0;
  if (!find_pass(chains, number, pass, [&](int p) { return chains.segments[p].of_codes; }))
    return false;
  const unsigned lane = threadIdx.x % 32;
  if (chains.code_segments(pass) != chains.segments[pass].of_codes) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return true;
  }
  const CodeBlocks blocks(chains, pass, number);
  const PassSegments& segments = chains.segments[pass];
  const SegmentBytes bytes(task, number, segments.first + segments.of_classes, segments.of_codes,
                           task.bytes[pass].codes, task.bytes[pass].code_bytes, blocks.lanes);
  if (!bytes.is_good) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return true;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  __syncwarp();  // the segment before has been read
  RingWords ring(words, blocks.lanes, shared.rings[threadIdx.x / 32]);
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
    const std::uint8_t* const symbols = shared.tables.symbols[kind];
    const std::uint32_t* const shares = shared.tables.shares[kind];
    if (__any_sync(~0U, on && shared.has_large[kind])) {
      take_block<true>(symbols, shares, on, coded, state, ring, out);
    } else {
      take_block<false>(symbols, shares, on, coded, state, ring, out);
    }
  }
  if (!ends_well(state, blocks.lanes, ring, words) && lane == 0)
    atomicOr(chains.flaws, bad_ans_segment);
  return true;
}

template <class Frames>
__global__ void __launch_bounds__(32 * CellsPolicy::chain_warps, 1)
    decode_codes_of_frame(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t room[Frames::shared_words];
  unsigned unused;
  const ChainDecodeTask& task = frames.find(room, unused);
  extern __shared__ uint4 table_memory[];
  auto& shared = *reinterpret_cast<SharedCodes*>(table_memory);
  shared.load(task);
  std::uint32_t number = ChainWarps::first();
  while (decode_segment(task, shared, number)) number += ChainWarps::step();
}

/// Allows a kernel this much shared memory.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "allow shared memory");
}

}  // namespace

void decode_classes(DeviceContext& gpu, const ChainDecodeTasks& frames) {
  constexpr std::size_t shared = sizeof(SharedTables<class_places>);
  const int passes = frames.list().front().chains.passes;
  frames.visit([&]<class Frames>(const Frames& tasks) {
    allow_shared(decode_classes_of_pass<Frames>, shared);
    for (int pass = 0; pass < passes; ++pass) {
      std::uint32_t segments = 0;
      for (const ChainDecodeTask& task : frames.list())
        segments = std::max(segments, task.chains.segments[pass].of_classes);
      if (segments == 0) continue;
      const dim3 blocks(blocks_for(segments, CellsPolicy::class_warps), frames.count());
      decode_classes_of_pass<Frames>
          <<<blocks, 32 * CellsPolicy::class_warps, shared, gpu.stream()>>>(tasks, pass);
      check_launch("decode_classes_of_pass");
    }
  });
}

void decode_codes(DeviceContext& gpu, const ChainDecodeTasks& frames) {
  std::uint32_t most = 0;
  for (const ChainDecodeTask& task : frames.list()) {
    std::uint32_t segments = 0;
    for (int pass = 0; pass < task.chains.passes; ++pass)
      segments += task.chains.segments[pass].of_codes;
    most = std::max(most, segments);
  }
  if (most == 0) return;
  const ChainWarps warps(most, frames.count(), gpu.device().multiprocessors);
  frames.visit([&]<class Frames>(const Frames& tasks) {
    allow_shared(decode_codes_of_frame<Frames>, sizeof(SharedCodes));
    decode_codes_of_frame<Frames>
        <<<warps.blocks, warps.threads, sizeof(SharedCodes), gpu.stream()>>>(tasks);
  });
  check_launch("decode_codes_of_frame");
}

}  // namespace cuszi::gpu
