#include <algorithm>

#include "gpu/cells/coding.cuh"
#include "gpu/coders/symbol_tables.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr int store_batch = 8;  ///< codes of a lane that are stored at once
static_assert(store_batch == RingOfWords::steps_of_top_up);

/// A segment: its bytes as the index tells, checked.
struct SegmentBytes {
  const std::byte* begin = nullptr;
  std::uint32_t words = 0;  ///< of 32 bits
  bool is_good = false;

  /// Segment `number` of the `count` ones that a section begins with, which have the entries of
  /// the index from `first` on.
  __device__ SegmentBytes(const ChainDecodeTask& task, std::uint32_t number, std::uint32_t first,
                          std::uint32_t count, const std::byte* section, ByteCount size) {
    const std::uint64_t* const offsets = task.offsets + first;
    const std::uint32_t own = task.sizes[first + number];
    is_good = own % 4 == 0 && offsets[count] - offsets[0] <= size;
    begin = section + (offsets[number] - offsets[0]);
    words = own / 4;
  }
};

/// What the warps of a block share: tables, whose lookups tell the symbol and the next state at
/// once, and a ring each.
struct SharedChains {
  static constexpr unsigned ring_size = RingOfWords::size / 2;

  DecoderEntry entries[class_count][table_probability_one];
  std::uint32_t rings[CellsPolicy::chain_warps][ring_size];  ///< of as many warps as there are

  static std::size_t bytes(unsigned warps) {
    return sizeof entries + warps * ring_size * sizeof(std::uint32_t);
  }
  /// As many warps of a block as wanted, or as its shared memory has rings for.
  static unsigned warps(const Device& device, unsigned wanted) {
    constexpr std::size_t others = 1024;  // tasks
    const std::size_t left =
        device.shared_bytes - std::min<std::size_t>(device.shared_bytes, bytes(0) + others);
    return std::clamp(static_cast<unsigned>(left / (bytes(1) - bytes(0))), 1U, wanted);
  }

  __device__ std::uint32_t* own_ring() { return rings[threadIdx.x / 32]; }
  /// Whether tokens of a class have raw bits: the last of a table stands in its last places.
  __device__ bool has_raw_bits(std::uint32_t kind) const {
    return entries[kind][table_probability_one - 1].is_large();
  }

  /// Makes the entries of all tables, a warp a table. By all threads of a block, which wait.
  template <class EntryOf>
  __device__ void fill(const SymbolTable* tables, const EntryOf& entry_of) {
    for (unsigned number = threadIdx.x / 32; number < class_count; number += blockDim.x / 32)
      fill_table(tables[number].frequencies, own_ring(), entries[number], entry_of);
    __syncthreads();
  }

 private:
  /// A table without frequencies, that of class 0, is certain of 0. `first` has room for the sums
  /// of frequencies.
  template <class EntryOf>
  __device__ static void fill_table(const std::uint16_t* frequencies, std::uint32_t* first,
                                    DecoderEntry* entries, const EntryOf& entry_of) {
    static_assert(token_places + 1 <= ring_size);
    sum_frequencies(frequencies, first);
    const bool is_table = first[token_places] == table_probability_one;
#pragma unroll 4
    for (unsigned slot = threadIdx.x % 32; slot < table_probability_one; slot += 32) {
      unsigned symbol = 0;
      CUSZI_UNROLL
      for (unsigned step = token_places / 2; step > 0; step /= 2)
        if (first[symbol + step] <= slot) symbol += step;
      const std::uint32_t frequency = first[symbol + 1] - first[symbol];
      entries[slot] = is_table ? entry_of(symbol, frequency, slot - first[symbol])
                               : DecoderEntry::of(0, false, table_probability_one, slot);
    }
    __syncwarp();
  }
};

/// Takes a class of a lane, unless it is off.
__device__ std::uint32_t take_class(const DecoderEntry* table, bool on, std::uint32_t& state,
                                    RingOfWords& ring) {
  const DecoderEntry entry = table[state % table_probability_one];
  state = on ? entry.next(state) : state;
  ring.refill(state);
  return entry.symbol();
}

/// Decodes the classes of a lane's run of tiles, in step with the other lanes: box by box, so that
/// all blocks of a box find the classes that they follow from in registers.
template <unsigned classes>
__device__ void take_classes(const CellsChains& chains, const ClassRuns& runs,
                             const SharedChains& shared, std::uint32_t& state, RingOfWords& ring) {
  static_assert(classes <= RingOfWords::steps_of_top_up);
  const ClassBoxes boxes(runs.rank, runs.pass);
  std::uint8_t* row = chains.classes + std::uint64_t{runs.first_tile} * tile_blocks;
  const bool has_parents = runs.pass > 0;
  std::uint64_t next = has_parents && runs.tiles > 0 ? boxes.load_parents(row, 0) : coarse_context;
  std::uint32_t last = 0;
  CUSZI_NO_UNROLL
  for (std::uint32_t tile = 0; tile < runs.most_tiles; ++tile, row += tile_blocks) {
    const bool on = tile < runs.tiles;
    CUSZI_NO_UNROLL
    for (std::uint32_t box = 0; box < boxes.boxes(); ++box) {
      const std::uint64_t parents = next;
      const bool ends = box + 1 == boxes.boxes();
      if (has_parents && tile + (ends ? 1 : 0) < runs.tiles)
        next = boxes.load_parents(ends ? row + tile_blocks : row, ends ? 0 : box + 1);
      std::uint8_t* const out = row + boxes.first_block + box * classes;
      ring.top_up();
      CUSZI_UNROLL
      for (unsigned i = 0; i < classes; ++i) {
        const auto parent = static_cast<std::uint32_t>(parents >> 8 * i) & 0xFFU;
        last = take_class(shared.entries[context_in_box(i, last, parent)], on, state, ring);
        if (on) out[i] = static_cast<std::uint8_t>(last);
      }
    }
  }
}

/// Waits until the segment of the pass before is done that has the parents of this one's blocks.
/// Blocks number themselves as they start, so that it has a warp already.
__device__ void wait_for_parents(const ChainDecodeTask& task, const ClassRuns& runs) {
  if (runs.pass == 0) return;
  const PassSegments& before = task.chains.segments[runs.pass - 1];
  if (before.of_classes == 0) return;
  const std::uint32_t number =
      runs.segment * runs.tiles_of_run / run_of_classes(runs.rank, runs.pass - 1);
  if (threadIdx.x % 32 == 0) {
    volatile const std::uint32_t* const is_done = task.done + before.first + number;
    while (*is_done == 0) __nanosleep(100);
  }
  __threadfence();
  __syncwarp();
}

/// `carried`: where the words go that the lanes of the segment carry.
__device__ void decode_class_segment(const ChainDecodeTask& task, const ClassRuns& runs,
                                     std::uint16_t* carried, SharedChains& shared) {
  const CellsChains& chains = task.chains;
  const PassSegments& segments = chains.segments[runs.pass];
  const SegmentBytes bytes(task, runs.segment, segments.first, segments.of_classes,
                           task.bytes[runs.pass].classes, task.bytes[runs.pass].class_bytes);
  const unsigned lane = threadIdx.x % 32;
  const LaneStates states(bytes.begin, bytes.is_good ? bytes.words : 0, lane < runs.lanes, lane,
                          runs.lanes);
  if (!states.is_good) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  RingOfWords ring(words, states.words, shared.own_ring());
  std::uint32_t state = states.own;
  wait_for_parents(task, runs);
  if (runs.pass == 0 || runs.rank == 1) {
    take_classes<1>(chains, runs, shared, state, ring);
  } else if (runs.rank == 2) {
    take_classes<3>(chains, runs, shared, state, ring);
  } else {
    take_classes<7>(chains, runs, shared, state, ring);
  }
  carried[lane] = static_cast<std::uint16_t>(state - lane_start);
  if (!ring.ends_well(state, states.words, list_word_bits) && lane == 0)
    atomicOr(chains.flaws, bad_ans_segment);
}

/// A warp a segment of classes, in the order of passes. One that needs the classes of another waits
/// for it: a launch a pass would wait for all.
template <class Frames>
__global__ void __launch_bounds__(32 * CellsPolicy::class_table_warps)
    decode_classes_of_frame(const __grid_constant__ Frames frames, unsigned decoding_warps) {
  __shared__ alignas(16) std::uint32_t room[Frames::shared_words];
  unsigned unused;
  const ChainDecodeTask& task = frames.find(room, unused);
  extern __shared__ uint4 shared_memory[];
  auto& shared = *reinterpret_cast<SharedChains*>(shared_memory);
  __shared__ std::uint32_t block;
  if (threadIdx.x == 0) block = atomicAdd(task.next_block, 1U);
  shared.fill(task.tables->classes,
              [](unsigned symbol, std::uint32_t frequency, std::uint32_t place) {
                return DecoderEntry::of(symbol, false, frequency, place);
              });
  const CellsChains& chains = task.chains;
  if (threadIdx.x / 32 >= decoding_warps) return;
  std::uint32_t number = block * decoding_warps + threadIdx.x / 32;
  std::uint16_t* const carried = task.carried + std::uint64_t{number} * 32;
  int pass = 0;
  if (!find_pass(chains, number, pass, [&](int p) { return chains.segments[p].of_classes; }))
    return;
  decode_class_segment(task, ClassRuns(chains, pass, number), carried, shared);
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    *static_cast<volatile std::uint32_t*>(task.done + chains.segments[pass].first + number) = 1;
}

/// Takes the raw bits of those lanes whose tokens have some.
__device__ void take_raw_bits(const DecoderEntry& entry, int& code, std::uint32_t& state,
                              RingOfWords& ring) {
  if (!__any_sync(~0U, entry.is_large())) return;
  if (entry.is_large()) {
    const std::uint32_t token = entry.symbol() + small_tokens;
    const std::uint32_t bits = raw_bits_of_code_token(token);
    code = code_of_token(token, state & ((1U << bits) - 1));
    state >>= bits;
  }
  ring.refill(state);
}

/// Which codes of a round need more than a lookup.
enum class RoundKind {
  plain,    ///< none
  carried,  ///< those whose signs lanes carry, which come out positive
  large,    ///< those that have raw bits
  any,      ///< both, and some are not coded
};

/// The signs that a lane carries: of how many codes so far, and at most in this round.
struct CarriedCount {
  std::uint32_t so_far = 0;
  std::uint32_t most = most_carried_signs;

  __device__ bool is_full() const { return so_far >= most; }
};

/// Stores a block's codes of every lane, eight at a time. Two lanes store the sixteen of one, then
/// those of the other: a sector of memory is written at once.
class CodeStores {
 public:
  /// `out` is null for a lane without a block.
  __device__ explicit CodeStores(uint4* out)
      : out_(out),
        other_(reinterpret_cast<uint4*>(
            __shfl_xor_sync(~0U, reinterpret_cast<unsigned long long>(out), 1))),
        is_second_(threadIdx.x % 2 != 0) {}

  /// The i-th eight codes, in order. By all lanes.
  __device__ void put(int i, const uint4& codes) {
    if (i % 2 == 0) {
      first_ = codes;
      return;
    }
    const uint4 given = is_second_ ? first_ : codes;
    const uint4 taken = {__shfl_xor_sync(~0U, given.x, 1), __shfl_xor_sync(~0U, given.y, 1),
                         __shfl_xor_sync(~0U, given.z, 1), __shfl_xor_sync(~0U, given.w, 1)};
    const int at = is_second_ ? i : i - 1;
    uint4* const of_first = is_second_ ? other_ : out_;
    uint4* const of_second = is_second_ ? out_ : other_;
    if (of_first != nullptr) of_first[at] = is_second_ ? taken : first_;
    if (of_second != nullptr) of_second[at] = is_second_ ? codes : taken;
  }

 private:
  uint4* out_;
  uint4* other_;  ///< of the other lane of the pair
  bool is_second_;
  uint4 first_{};
};

/// The codes of a block of every lane. `coded` tells those that are coded; others are taken from
/// the table `none`, which is certain of 0.
template <RoundKind kind>
__device__ void take_block(const DecoderEntry* table, const DecoderEntry* none, std::uint64_t coded,
                           std::uint32_t& state, CarriedCount& carried, RingOfWords& ring,
                           CodeStores stores) {
  constexpr bool is_any = kind == RoundKind::any;
  constexpr bool may_be_large = is_any || kind == RoundKind::large;
  constexpr bool may_be_carried = is_any || kind == RoundKind::carried;
  constexpr int codes_of_top_up =
      may_be_large ? RingOfWords::steps_of_top_up / 2 : RingOfWords::steps_of_top_up;
  CUSZI_NO_UNROLL
  for (int i = 0; i < cell_block_codes / store_batch; ++i) {
    const auto own = static_cast<unsigned>(coded >> (i * store_batch));
    const auto take = [&](int k) {
      const bool is_coded = !is_any || (own >> k & 1) != 0;
      const DecoderEntry entry = (is_coded ? table : none)[state % table_probability_one];
      int code = entry.code();
      std::uint32_t next = entry.next(state);
      if constexpr (may_be_carried) {
        const bool is_small = !is_any || !entry.is_large();
        if (is_small && code != 0 && !carried.is_full()) {
          next = entry.next_of_pair(state);
          code = abs(code);
          ++carried.so_far;
        }
      }
      state = next;
      ring.refill(state);
      if constexpr (may_be_large) take_raw_bits(entry, code, state, ring);
      return static_cast<unsigned>(code);
    };
    std::uint32_t pairs[store_batch / 2];
    CUSZI_UNROLL
    for (int j = 0; j < store_batch / 2; ++j) {
      if (2 * j % codes_of_top_up == 0) ring.top_up();
      const unsigned low = take(2 * j);
      const unsigned high = take(2 * j + 1);
      pairs[j] = __byte_perm(low, high, 0x5410);
    }
    stores.put(i, make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]));
  }
}

/// The signs that a lane carries and has not given to its codes.
struct CarriedSigns {
  std::uint32_t bits;
  std::uint32_t left;

  __device__ void give(uint4& eight_codes) {
    std::uint32_t* const pairs[] = {&eight_codes.x, &eight_codes.y, &eight_codes.z, &eight_codes.w};
    CUSZI_UNROLL
    for (int i = 0; i < 8; ++i) {
      std::uint32_t& pair = *pairs[i / 2];
      const int code = static_cast<std::int16_t>(pair >> (i % 2 * 16));
      if (left == 0 || !has_small_sign(code)) continue;
      if ((bits & 1) != 0)
        pair = __byte_perm(pair, static_cast<unsigned>(-code), i % 2 == 0 ? 0x3254 : 0x5410);
      bits >>= 1;
      --left;
    }
  }
};

/// Gives the first codes of a lane their signs.
__device__ void give_signs(const CellsChains& chains, const CodeBlocks& blocks,
                           CarriedSigns signs) {
  constexpr int batch = 4;
  CUSZI_NO_UNROLL
  for (std::uint32_t round = 0; round < blocks.of_lane && signs.left > 0; ++round) {
    auto* const codes = reinterpret_cast<uint4*>(
        chains.codes + std::uint64_t{blocks.number(round)} * cell_block_codes);
    CUSZI_NO_UNROLL
    for (int first = 0; first < cell_block_codes / 8 && signs.left > 0; first += batch) {
      uint4 some[batch];
      CUSZI_UNROLL
      for (int i = 0; i < batch; ++i) some[i] = codes[first + i];
      CUSZI_UNROLL
      for (int i = 0; i < batch; ++i) {
        signs.give(some[i]);
        codes[first + i] = some[i];
      }
    }
  }
}

/// The block of a lane in a round.
struct LaneBlock {
  std::uint32_t number;
  std::uint32_t kind;
  std::uint64_t coded;

  __device__ LaneBlock(const CellsChains& chains, std::uint32_t block)
      : number(block), kind(chains.classes[block]), coded(chains.coded_of(block)) {}
};

/// Decodes segment `number` of those of codes, by a warp. Returns whether there is one.
__device__ bool decode_segment(const ChainDecodeTask& task, SharedChains& shared,
                               std::uint32_t number) {
  const CellsChains& chains = task.chains;
  int pass = 0;
  if (!find_pass(chains, number, pass, [&](int p) { return chains.segments[p].of_codes; }))
    return false;
  const unsigned lane = threadIdx.x % 32;
  if (!task.has_codes_of_classes(pass)) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return true;
  }
  const CodeBlocks blocks(chains, pass, number);
  const PassSegments& segments = chains.segments[pass];
  const SegmentBytes bytes(task, number, segments.first + segments.of_classes, segments.of_codes,
                           task.bytes[pass].codes, task.bytes[pass].code_bytes);
  const LaneStates states(bytes.begin, bytes.is_good ? bytes.words : 0, lane < blocks.lanes, lane,
                          blocks.lanes);
  if (!states.is_good) {
    if (lane == 0) atomicOr(chains.flaws, bad_ans_segment);
    return true;
  }
  const UnalignedWords words(bytes.begin, bytes.words);
  __syncwarp();  // the segment before has been read
  RingOfWords ring(words, states.words, shared.own_ring());
  std::uint32_t state = states.own;
  CarriedCount carried;
  // What a round needs is loaded in the one before, its block's number two before.
  LaneBlock next(chains, blocks.number(0));
  std::uint32_t after = blocks.number(1);
  CUSZI_NO_UNROLL
  for (std::uint32_t round = 0; round < blocks.rounds; ++round) {
    const bool on = round < blocks.of_lane;
    const LaneBlock own = next;
    next = LaneBlock(chains, after);
    after = blocks.number(round + 2);
    const std::uint32_t kind = on ? own.kind : 0;
    std::int16_t* const codes = chains.codes + std::uint64_t{own.number} * cell_block_codes;
    const CodeStores stores(on ? reinterpret_cast<uint4*>(codes) : nullptr);
    const DecoderEntry* const table = shared.entries[kind];
    const DecoderEntry* const none = shared.entries[0];
    if (round == blocks.carrying) carried.most = 0;
    const bool may_carry = __any_sync(~0U, on && !carried.is_full());
    const bool may_be_large = __any_sync(~0U, on && shared.has_raw_bits(kind));
    const bool is_whole = __all_sync(~0U, !on || ~own.coded == 0);
    if (!is_whole || (may_carry && may_be_large)) {
      take_block<RoundKind::any>(table, none, own.coded, state, carried, ring, stores);
    } else if (may_be_large) {
      take_block<RoundKind::large>(table, none, own.coded, state, carried, ring, stores);
    } else if (may_carry) {
      take_block<RoundKind::carried>(table, none, own.coded, state, carried, ring, stores);
    } else {
      take_block<RoundKind::plain>(table, none, own.coded, state, carried, ring, stores);
    }
  }
  give_signs(chains, blocks, {state - lane_start, carried.so_far});
  if (!ring.ends_well(state, states.words, carried.so_far) && lane == 0)
    atomicOr(chains.flaws, bad_ans_segment);
  return true;
}

template <class Frames>
__global__ void __launch_bounds__(32 * CellsPolicy::chain_warps, 1)
    decode_codes_of_frame(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t room[Frames::shared_words];
  unsigned unused;
  const ChainDecodeTask& task = frames.find(room, unused);
  extern __shared__ uint4 shared_memory[];
  auto& shared = *reinterpret_cast<SharedChains*>(shared_memory);
  shared.fill(task.tables->codes, DecoderEntry::of_token);
  std::uint32_t number = ChainWarps::first();
  while (decode_segment(task, shared, number)) number += ChainWarps::step();
}

/// The most segments that a frame has in all passes.
template <class CountOf>
std::uint32_t most_segments(const ChainDecodeTasks& frames, const CountOf& count_of) {
  std::uint32_t most = 0;
  for (const ChainDecodeTask& task : frames.list()) {
    std::uint32_t segments = 0;
    for (int pass = 0; pass < task.chains.passes; ++pass)
      segments += count_of(task.chains.segments[pass]);
    most = std::max(most, segments);
  }
  return most;
}

}  // namespace

void decode_classes(DeviceContext& gpu, const ChainDecodeTasks& frames) {
  const std::uint32_t most =
      most_segments(frames, [](const PassSegments& pass) { return pass.of_classes; });
  if (most == 0) return;
  const unsigned warps = SharedChains::warps(gpu.device(), CellsPolicy::class_table_warps);
  const unsigned decoding_warps = std::min(warps, CellsPolicy::class_warps);
  const dim3 blocks(blocks_for(most, decoding_warps), frames.count());
  const std::size_t shared = SharedChains::bytes(warps);
  frames.visit([&]<class Frames>(const Frames& tasks) {
    raise_shared_limit(gpu.device(), decode_classes_of_frame<Frames>);
    decode_classes_of_frame<Frames>
        <<<blocks, 32 * warps, shared, gpu.stream()>>>(tasks, decoding_warps);
  });
  check_launch("decode_classes_of_frame");
}

void decode_codes(DeviceContext& gpu, const ChainDecodeTasks& frames) {
  const std::uint32_t most =
      most_segments(frames, [](const PassSegments& pass) { return pass.of_codes; });
  if (most == 0) return;
  const ChainWarps warps(most, frames.count(), gpu.device().multiprocessors,
                         SharedChains::warps(gpu.device(), CellsPolicy::chain_warps));
  const std::size_t shared = SharedChains::bytes(warps.threads / 32);
  frames.visit([&]<class Frames>(const Frames& tasks) {
    raise_shared_limit(gpu.device(), decode_codes_of_frame<Frames>);
    decode_codes_of_frame<Frames><<<warps.blocks, warps.threads, shared, gpu.stream()>>>(tasks);
  });
  check_launch("decode_codes_of_frame");
}

}  // namespace cuszi::gpu
