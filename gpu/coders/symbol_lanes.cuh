#pragma once

#include <cstdint>

#include "core/coders/ans_slots.hpp"
#include "core/coders/lane_states.hpp"
#include "core/coders/symbol_tables.hpp"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

// Interleaved rANS by symbol tables in the lanes of a warp: what encoders and decoders of segments
// share.

/// The words that a segment has come to.
struct LaneWords {
  const std::uint16_t* words;
  std::uint32_t count;
  std::uint32_t head = 0;  ///< words of 32 bits in front

  CUSZI_HD std::uint32_t bytes() const { return 4 * head + 4 * ((count + 1) / 2); }
};

/// Stores the head of a segment, given the states of the lanes that are on. By a warp. Returns its
/// words.
__device__ inline std::uint32_t store_states(bool on, std::uint32_t state, std::uint32_t* head) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned below = (1U << lane) - 1;
  const unsigned all = __ballot_sync(~0U, on);
  const unsigned long_ones = __ballot_sync(~0U, on && is_long_state(state));
  const auto before = [](unsigned lanes, unsigned mask) {
    return static_cast<std::uint32_t>(__popc(lanes & mask));
  };
  auto* const bytes = reinterpret_cast<std::uint8_t*>(head + 1);
  const std::uint32_t first = state_bytes(before(all, below), before(long_ones, below));
  for (std::uint32_t i = 0; on && i < short_state_bytes + (is_long_state(state) ? 1 : 0); ++i)
    bytes[first + i] = static_cast<std::uint8_t>(state >> 8 * i);
  const std::uint32_t end = state_bytes(before(all, ~0U), before(long_ones, ~0U));
  const std::uint32_t words = head_words(before(all, ~0U), before(long_ones, ~0U));
  if (end + lane < 4 * (words - 1)) bytes[end + lane] = 0;
  // Bit i is the i-th lane that is on.
  unsigned of_lanes = on && is_long_state(state) ? 1U << before(all, below) : 0;
  of_lanes = __reduce_or_sync(~0U, of_lanes);
  if (lane == 0) *head = of_lanes;
  return words;
}

/// The head of a segment of words of 32 bits, at any address. By a warp.
struct LaneStates {
  std::uint32_t own;    ///< of this lane, which is the `number`-th one of those that are on
  std::uint32_t words;  ///< of the head
  bool is_good;         ///< whether the segment has as many

  __device__ LaneStates(const std::byte* segment, std::uint32_t segment_words, bool on,
                        std::uint32_t number, std::uint32_t lanes)
      : own(lane_start), words(0), is_good(segment_words != 0) {
    if (!is_good) return;
    const auto long_ones = static_cast<std::uint32_t>(get_bytes(segment, 4));
    words = head_words(lanes, static_cast<std::uint32_t>(__popc(long_ones)));
    is_good = words <= segment_words;
    if (!is_good || !on) return;
    const auto before = static_cast<std::uint32_t>(__popc(long_ones & ((1U << number) - 1)));
    own = static_cast<std::uint32_t>(get_bytes(segment + 4 + state_bytes(number, before),
                                               short_state_bytes + (long_ones >> number & 1)));
  }
};

/// Stores the head, then words, by 32 bits and all threads of a block.
__device__ inline void store_segment(LaneWords segment, const std::uint32_t* head,
                                     std::uint32_t* to) {
  for (std::uint32_t i = threadIdx.x; i < segment.head; i += blockDim.x) to[i] = head[i];
  std::uint32_t* const after = to + segment.head;
  const bool is_odd = reinterpret_cast<std::uintptr_t>(segment.words) % 4 != 0;
  const auto* const from = reinterpret_cast<const std::uint32_t*>(segment.words - (is_odd ? 1 : 0));
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < segment.count / 2; i += blockDim.x)
    after[i] = is_odd ? __funnelshift_r(from[i], from[i + 1], 16) : from[i];
  if (segment.count % 2 != 0 && threadIdx.x == 0)
    after[segment.count / 2] = segment.words[segment.count - 1];
}

/// What lanes spill in steps that follow each other. The words are written after them, so that no
/// step waits for where those of the one before go.
template <int steps>
class Spills {
 public:
  /// By all lanes. A step may be left out.
  __device__ void spill(int step, bool spills, std::uint32_t& state) {
    lanes_[step] = __ballot_sync(~0U, spills);
    states_[step] = state;
    if (spills) state >>= 16;
  }
  __device__ void put(int step, const PackedSymbolShare& share, std::uint32_t& state) {
    spill(step, share.spills(state), state);
    state = share.put(state);
  }

 private:
  friend class WordsOfLanes;

  unsigned lanes_[steps] = {};
  std::uint32_t states_[steps];
};

/// The words of a segment, which come out backwards.
class WordsOfLanes {
 public:
  __device__ explicit WordsOfLanes(std::uint16_t* end)
      : end_(end), at_(end), own_(1U << threadIdx.x % 32) {}

  template <int steps>
  __device__ void write(const Spills<steps>& spills) {
    CUSZI_UNROLL
    for (int step = 0; step < steps; ++step) {
      const unsigned lanes = spills.lanes_[step];
      at_ -= __popc(lanes);
      if ((lanes & own_) != 0)
        at_[__popc(lanes & (own_ - 1))] = static_cast<std::uint16_t>(spills.states_[step]);
    }
  }
  /// Puts symbols, the last one first.
  template <int count>
  __device__ void put(const PackedSymbolShare (&shares)[count], std::uint32_t& state) {
    Spills<count> spills;
    CUSZI_UNROLL
    for (int step = 0; step < count; ++step) spills.put(step, shares[count - 1 - step], state);
    write(spills);
  }
  __device__ const std::uint16_t* begin() const { return at_; }
  /// With a head of so many words of 32 bits.
  __device__ LaneWords segment(std::uint32_t head) const {
    return {at_, static_cast<std::uint32_t>(end_ - at_), head};
  }

 private:
  const std::uint16_t* end_;
  std::uint16_t* at_;
  unsigned own_;  ///< the bit of this lane
};

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
class RingOfWords {
 public:
  static constexpr unsigned size = 512;  ///< words of 16 bits

  __device__ RingOfWords(const UnalignedWords& from, std::uint32_t first, std::uint32_t* ring)
      : from_(from), next_(first + lane()), ring_(ring), below_((1U << lane()) - 1) {
    constexpr unsigned at_once = 8;
    static_assert(size % (at_once * loaded_words) == 0);
    CUSZI_NO_UNROLL
    for (have_ = 0; have_ < size;) {
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

  /// Steps of up to 32 words for which top_up() suffices.
  static constexpr int steps_of_top_up = 8;
  /// Makes sure of their words.
  __device__ void top_up() {
    CUSZI_NO_UNROLL
    while (have_ - at_ <= enough) {
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
    const unsigned at = (at_ + static_cast<unsigned>(__popc(low & below_))) % size;
    if (is_low) state = refilled(state, reinterpret_cast<const std::uint16_t*>(ring_)[at]);
    at_ += static_cast<unsigned>(__popc(low));
  }

  /// Whether a segment has ended as it should, given the words of its head: every lane in its first
  /// state but for its lowest `carried` bits, all words taken.
  __device__ bool ends_well(std::uint32_t state, std::uint32_t head,
                            std::uint32_t carried = 0) const {
    const bool is_padded = at_ % 2 != 0;
    const bool all_taken = (at_ + 1) / 2 == from_.count() - head;
    const bool is_zero = !is_padded || !all_taken || from_[from_.count() - 1] >> 16 == 0;
    return __all_sync(~0U, state >> carried == lane_start >> carried) && all_taken && is_zero;
  }

 private:
  static constexpr unsigned loaded_words = 64;  ///< at once
  /// Words that must be there. Those that a step before may still read are not overwritten.
  static constexpr unsigned enough = size - 2 * loaded_words;
  static_assert(steps_of_top_up * 32 <= enough);

  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ void put(std::uint32_t word) {
    ring_[have_ / 2 % (size / 2) + lane()] = word;
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

/// What a decoder needs to know of a symbol: frequency, the first slot, and how many raw bits
/// follow.
struct SlotShare {
  std::uint32_t bits;

  CUSZI_HD static SlotShare of(const SymbolShare& share, std::uint32_t raw_bits) {
    return {share.frequency | share.first << 12 | raw_bits << 24};
  }
  CUSZI_HD SymbolShare share() const { return {bits & 0xFFFU, bits >> 12 & 0xFFFU}; }
  CUSZI_HD std::uint32_t raw_bits() const { return bits >> 24; }
};

}  // namespace cuszi::gpu
