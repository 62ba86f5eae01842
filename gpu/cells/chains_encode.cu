#include "gpu/cells/coding.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::uint32_t largest_step_words = 2 * 32;  ///< a token's and raw bits', of all lanes
constexpr int load_batch = 8;                         ///< codes of a lane that are loaded at once
static_assert(spare_segment_words == load_batch * largest_step_words);

/// Where the share of a token lies among those of its class: small codes by their lowest bits.
constexpr unsigned small_places = 32;
__device__ unsigned place_of_token(unsigned token) {
  return token < small_tokens ? static_cast<unsigned>(code_of_small_token(token)) % small_places
                              : token - small_tokens + small_places;
}

/// Tells which of eight codes are not small.
class LargeCodes {
 public:
  __device__ explicit LargeCodes(const std::uint32_t (&pairs)[4]) {
    CUSZI_UNROLL
    for (int i = 0; i < 4; ++i) high_bits_[i] = __vabsss2(pairs[i]) & 0xFFF0FFF0U;
  }
  __device__ bool any() const {
    return (high_bits_[0] | high_bits_[1] | high_bits_[2] | high_bits_[3]) != 0;
  }
  /// Bit i is code i.
  __device__ unsigned bits() const {
    unsigned large = 0;
    CUSZI_UNROLL
    for (int i = 0; i < 4; ++i) {
      large |= ((high_bits_[i] & 0xFFFFU) != 0 ? 1U : 0U) << (2 * i);
      large |= (high_bits_[i] >> 16 != 0 ? 1U : 0U) << (2 * i + 1);
    }
    return large;
  }

 private:
  std::uint32_t high_bits_[4];
};

/// Puts those of eight codes of a lane that are coded, backwards: bit i of `coded` is set for
/// code i. Signs of codes before `carried_end` are carried.
template <bool may_be_large, bool may_be_carried>
__device__ void put_codes(const std::uint32_t (&pairs)[4], unsigned coded, unsigned large,
                          int carried_end, const PackedSymbolShare* shares, std::uint32_t& state,
                          WordsOfLanes& words) {
  constexpr int steps_of_code = may_be_large ? 2 : 1;  // raw bits are a step
  constexpr int at_once = 8 / steps_of_code;
  const unsigned large_of_some = may_be_large ? __reduce_or_sync(~0U, large) : 0;
  CUSZI_UNROLL
  for (int end = 8; end > 0; end -= at_once) {
    PackedSymbolShare found[at_once];
    CellToken raw[at_once] = {};
    CUSZI_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const int i = end - 1 - k;
      const int code = static_cast<std::int16_t>(pairs[i / 2] >> (i % 2 * 16));
      if (may_be_carried && i < carried_end && has_small_sign(code)) {
        found[k] = shares[abs(code)].of_pair();
      } else {
        found[k] = shares[static_cast<unsigned>(code) % small_places];
      }
      if ((coded >> i & 1) == 0) found[k] = {};
      if ((large_of_some >> i & 1) != 0 && (large >> i & 1) != 0) {
        raw[k] = token_of_code(code);
        found[k] = shares[place_of_token(raw[k].token)];
      }
    }
    Spills<at_once * steps_of_code> spills;
    CUSZI_UNROLL
    for (int k = 0; k < at_once; ++k) {
      if ((large_of_some >> (end - 1 - k) & 1) != 0) {
        const std::uint32_t bits = raw[k].raw_bits;
        spills.spill(2 * k, bits != 0 && state >> (32 - bits) != 0, state);
        state = state << bits | raw[k].raw;
      }
      spills.put(k * steps_of_code + steps_of_code - 1, found[k], state);
    }
    words.write(spills);
  }
}
__device__ void put_codes(const uint4& codes, unsigned coded, int carried_end,
                          const PackedSymbolShare* shares, std::uint32_t& state,
                          WordsOfLanes& words) {
  const std::uint32_t pairs[] = {codes.x, codes.y, codes.z, codes.w};
  const LargeCodes large(pairs);
  const bool carries = __any_sync(~0U, carried_end > 0);
  if (__any_sync(~0U, large.any())) {
    const unsigned bits = large.bits() & coded;
    if (carries) {
      put_codes<true, true>(pairs, coded, bits, carried_end, shares, state, words);
    } else {
      put_codes<true, false>(pairs, coded, bits, carried_end, shares, state, words);
    }
  } else if (carries) {
    put_codes<false, true>(pairs, coded, 0, carried_end, shares, state, words);
  } else {
    put_codes<false, false>(pairs, coded, 0, carried_end, shares, state, words);
  }
}

/// Eight codes of a block, from `first` on.
__device__ uint4 load_codes(const CellsChains& chains, std::uint32_t block, int first) {
  return __ldg(reinterpret_cast<const uint4*>(chains.codes +
                                              std::uint64_t{block} * cell_block_codes + first));
}

/// The signs that a lane carries.
class SignsToCarry {
 public:
  /// Those of the first small codes of a lane that are not 0.
  __device__ SignsToCarry(const CellsChains& chains, const CodeBlocks& blocks) {
    constexpr int at_once = 4;
    const std::uint32_t rounds = min(blocks.of_lane, blocks.carrying);
    CUSZI_NO_UNROLL
    for (std::uint32_t round = 0; round < rounds && !is_full(); ++round) {
      const std::uint32_t block = blocks.number(round);
      CUSZI_NO_UNROLL
      for (int first = 0; first < cell_block_codes && !is_full(); first += at_once * load_batch) {
        uint4 codes[at_once];
        CUSZI_UNROLL
        for (int i = 0; i < at_once; ++i)
          codes[i] = load_codes(chains, block, first + i * load_batch);
        const int before = static_cast<int>(round) * cell_block_codes + first;
        CUSZI_UNROLL
        for (int i = 0; i < at_once; ++i) add(codes[i], before + i * load_batch);
      }
    }
  }

  __device__ std::uint32_t bits() const { return bits_; }
  /// How many codes of the lane have all that are carried.
  __device__ int end() const { return end_; }

 private:
  __device__ bool is_full() const { return count_ == most_carried_signs; }
  __device__ void add(const uint4& eight_codes, int before) {
    const std::uint32_t pairs[] = {eight_codes.x, eight_codes.y, eight_codes.z, eight_codes.w};
    CUSZI_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int code = static_cast<std::int16_t>(pairs[i / 2] >> (i % 2 * 16));
      if (is_full() || !has_small_sign(code)) continue;
      bits_ |= (code < 0 ? 1U : 0U) << count_;
      ++count_;
      end_ = before + i + 1;
    }
  }

  std::uint32_t bits_ = 0;
  std::uint32_t count_ = 0;
  int end_ = 0;
};

__device__ void finish_segment(const ChainEncodeTask& task, std::uint32_t entry,
                               std::uint32_t lanes, std::uint32_t state,
                               const WordsOfLanes& words) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t head =
      store_states(lane < lanes, state, task.heads + std::uint64_t{entry} * most_head_words);
  if (lane != 0) return;
  task.words[entry] = words.segment(head);
  task.sizes[entry] = task.words[entry].bytes();
}

/// What the warps of a block share: the shares of tokens and of classes. A place more in each row,
/// so that lanes find the same token of different classes in different banks.
struct SharedShares {
  PackedSymbolShare codes[class_count][token_places + 1];
  PackedSymbolShare classes[class_count][class_places + 1];

  /// By all threads of a block, which wait.
  __device__ void load(const ChainEncodeTask& task) {
    for (unsigned i = threadIdx.x; i < class_count * token_places; i += blockDim.x)
      if (i % token_places < cell_tokens)
        codes[i / token_places][place_of_token(i % token_places)] = task.code_shares[i];
    for (unsigned i = threadIdx.x; i < class_count * class_places; i += blockDim.x)
      classes[i / class_places][i % class_places] = task.class_shares[i];
    __syncthreads();
  }
};

/// Codes segment `number` of those of codes, by a warp. Returns whether there is one.
__device__ bool encode_code_segment(const ChainEncodeTask& task, const SharedShares& shared,
                                    std::uint32_t number) {
  const CellsChains& chains = task.chains;
  int pass = 0;
  if (!find_pass(chains, number, pass, [&](int p) { return chains.code_segments(p); }))
    return false;
  const CodeBlocks blocks(chains, pass, number);
  const std::uint32_t entry =
      chains.segments[pass].first + chains.segments[pass].of_classes + number;
  // Capacity of a segment: as many words as codes, times `room`, and a batch more.
  const std::uint64_t blocks_before =
      chains.first_live[pass] + number * 32 * chains.blocks_of_lane_in(pass);
  std::uint16_t* const begin = task.code_words + (blocks_before * cell_block_codes * task.room +
                                                  entry * spare_segment_words);
  const std::uint64_t in_segment =
      min(std::uint64_t{blocks.rounds} * 32, chains.first_live[pass + 1] - blocks_before);
  WordsOfLanes words(begin + (in_segment * cell_block_codes * task.room + spare_segment_words));
  const SignsToCarry signs(chains, blocks);
  std::uint32_t state = lane_start + signs.bits();
  constexpr int last = cell_block_codes - load_batch;
  // What a round needs is loaded in the one before, its block's number two before.
  std::uint32_t block = blocks.number(blocks.rounds - 1);
  std::uint32_t before = blocks.rounds > 1 ? blocks.number(blocks.rounds - 2) : 0;
  uint4 next = load_codes(chains, block, last);
  std::uint64_t next_coded = chains.coded_of(block);
  std::uint32_t next_kind = chains.classes[block];
  CUSZI_NO_UNROLL
  for (std::uint32_t round = blocks.rounds; round-- > 0;) {
    const std::uint64_t coded = round < blocks.of_lane ? next_coded : 0;
    const PackedSymbolShare* const own = shared.codes[next_kind];
    next_coded = chains.coded_of(before);
    next_kind = chains.classes[before];
    const std::uint32_t after = round > 1 ? blocks.number(round - 2) : 0;
    CUSZI_NO_UNROLL
    for (int first = last; first >= 0; first -= load_batch) {
      const uint4 codes = next;
      next = first > 0 ? load_codes(chains, block, first - load_batch)
                       : load_codes(chains, before, last);
      if (words.begin() - begin < load_batch * static_cast<int>(largest_step_words)) {
        if (threadIdx.x % 32 == 0) *task.has_overflown = 1;
        return true;
      }
      const auto coded_now = static_cast<unsigned>(coded >> first);
      const int carried_end = signs.end() - static_cast<int>(round) * cell_block_codes - first;
      put_codes(codes, coded_now, carried_end, own, state, words);
    }
    block = before;
    before = after;
  }
  finish_segment(task, entry, blocks.lanes, state, words);
  return true;
}

/// Puts the classes of a lane's run of tiles, backwards, in step with the other lanes.
template <unsigned classes>
__device__ void put_classes(const CellsChains& chains, const ClassRuns& runs,
                            const SharedShares& shared, std::uint32_t& state, WordsOfLanes& words) {
  const ClassBoxes boxes(runs.rank, runs.pass);
  const std::uint8_t* const rows = chains.classes + std::uint64_t{runs.first_tile} * tile_blocks;
  const auto load = [&](std::uint32_t i) {  // i: of the boxes of the run
    const std::uint32_t tile = i >> boxes.log2_boxes;
    return tile < runs.tiles ? LoadedBox(boxes, rows + tile * tile_blocks, i % boxes.boxes())
                             : LoadedBox();
  };
  std::uint32_t left = runs.most_tiles * boxes.boxes();
  LoadedBox next = load(left - 1);
  CUSZI_NO_UNROLL
  while (left-- > 0) {
    const LoadedBox now = next;
    if (left > 0) next = load(left - 1);
    const bool on = left >> boxes.log2_boxes < runs.tiles;
    PackedSymbolShare found[classes];
    std::uint32_t before = 0;
    CUSZI_UNROLL
    for (unsigned i = 0; i < classes; ++i) {
      found[i] = shared.classes[context_in_box(i, before, now.parent(i))][now.kind(i)];
      if (!on) found[i] = {};
      before = now.kind(i);
    }
    words.put(found, state);
  }
}

/// Codes segment `number` of those of classes, by a warp.
__device__ void encode_class_segment(const ChainEncodeTask& task, const SharedShares& shared,
                                     std::uint32_t number) {
  const CellsChains& chains = task.chains;
  WordsOfLanes words(task.class_words + (std::uint64_t{number} + 1) * class_segment_words);
  int pass = 0;
  find_pass(chains, number, pass, [&](int p) { return chains.segments[p].of_classes; });
  const ClassRuns runs(chains, pass, number);
  const auto* const lists = reinterpret_cast<const std::uint16_t*>(
      task.lists + lists_of_pass(chains.rank, pass, chains.tiles));
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t state = lane_start;
  if (lane < runs.lanes) state += lists[std::uint64_t{number} * 32 + lane];
  if (pass == 0 || runs.rank == 1) {
    put_classes<1>(chains, runs, shared, state, words);
  } else if (runs.rank == 2) {
    put_classes<3>(chains, runs, shared, state, words);
  } else {
    put_classes<7>(chains, runs, shared, state, words);
  }
  finish_segment(task, chains.segments[pass].first + number, runs.lanes, state, words);
}

/// A warp a segment at a time, those of classes first, which take longest.
template <class Frames>
__global__ void __launch_bounds__(32 * CellsPolicy::encode_warps, 1)
    encode_segments(const __grid_constant__ Frames frames, std::uint32_t of_classes) {
  __shared__ alignas(16) std::uint32_t room[Frames::shared_words];
  unsigned unused;
  const ChainEncodeTask& task = frames.find(room, unused);
  __shared__ SharedShares shared;
  shared.load(task);
  std::uint32_t number = ChainWarps::first();
  for (; number < of_classes; number += ChainWarps::step())
    encode_class_segment(task, shared, number);
  while (encode_code_segment(task, shared, number - of_classes)) number += ChainWarps::step();
}

}  // namespace

void encode_chains(DeviceContext& gpu, const ChainEncodeTasks& frames) {
  std::uint32_t of_classes = 0;
  std::uint32_t of_codes = 0;
  const CellsChains& first = frames.list().front().chains;
  for (int pass = 0; pass < first.passes; ++pass) {
    of_classes += first.segments[pass].of_classes;
    of_codes += first.segments[pass].of_codes;
  }
  const ChainWarps warps(of_classes + of_codes, frames.count(), gpu.device().multiprocessors,
                         CellsPolicy::encode_warps);
  frames.visit([&]<class Frames>(const Frames& tasks) {
    encode_segments<Frames><<<warps.blocks, warps.threads, 0, gpu.stream()>>>(tasks, of_classes);
  });
  check_launch("encode_segments");
}

}  // namespace cuszi::gpu
