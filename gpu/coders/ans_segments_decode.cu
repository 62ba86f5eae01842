#include "gpu/coders/ans_segments.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct RawPlace {
  const std::byte* rest;  ///< 16-bit words after those in the states
  std::uint32_t rest_words;
  std::uint32_t carrying;    ///< lanes
  std::uint32_t is_decoded;  ///< without a flaw
};

struct DecodeTask {
  FrameSlots slots;
  std::uint32_t centre;
  const std::uint32_t* entries;        ///< [list][state mod 2^12]
  const std::uint8_t* raw_bit_counts;  ///< [kind][token]
  const SegmentRun* runs;
  std::uint32_t run_count;
  std::uint8_t* tokens;      ///< [slot]
  std::uint32_t* tile_bits;  ///< [segment][tile]: raw bits before, in the segment
  std::uint16_t* carried;    ///< [segment][lane]
  RawPlace* raw;             ///< [segment]
  std::uint32_t* flaws;
};

/// One thread block per table.
__global__ void __launch_bounds__(SegmentPolicy::threads)
    fill_entries(const std::uint16_t* frequencies, std::uint32_t* entries) {
  __shared__ std::uint32_t sums[token_count + 1];
  const std::uint16_t* const own = frequencies + blockIdx.x * token_count;
  if (threadIdx.x == 0) {
    std::uint32_t sum = 0;
    for (unsigned t = 0; t < token_count; ++t) {
      sums[t] = sum;
      sum += own[t];
    }
    sums[token_count] = sum;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < probability_one; i += SegmentPolicy::threads) {
    std::uint32_t token = 0;
    for (std::uint32_t step = token_count / 2; step > 0; step /= 2) {
      if (sums[token + step] <= i) token += step;
    }
    entries[blockIdx.x * probability_one + i] =
        decoder_entry(token, sums[token + 1] - sums[token], i - sums[token]);
  }
}

/// Two loads, combined only on use, so that nothing stalls on them.
struct WordBytes {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  __device__ std::uint32_t word() const { return low | high << 8; }
};

/// 16-bit words for a warp, three per lane in registers.
class WarpWords {
 public:
  __device__ WarpWords(const std::byte* words, std::uint32_t count)
      : next_(words + 2 * (threadIdx.x % 32)), left_(static_cast<std::int64_t>(count)) {
    left_ -= threadIdx.x % 32;
    low_ = load().word();
    middle_ = load().word();
    high_ = load();
  }

  /// Returns the next word to each lane that needs one, in lane order.
  __device__ std::uint32_t take(bool needed) {
    const unsigned below = (1U << (threadIdx.x % 32)) - 1;
    const unsigned needing = __ballot_sync(~0U, needed);
    const unsigned at = at_ + static_cast<unsigned>(__popc(needing & below));
    const std::uint32_t low = __shfl_sync(~0U, low_, static_cast<int>(at));
    const std::uint32_t middle = __shfl_sync(~0U, middle_, static_cast<int>(at));
    at_ += static_cast<unsigned>(__popc(needing));
    if (at_ >= 32) {
      at_ -= 32;
      handed_out_ += 32;
      low_ = middle_;
      middle_ = high_.word();
      high_ = load();
    }
    return at < 32 ? low : middle;
  }

  /// May exceed the available words.
  __device__ std::uint32_t taken() const { return handed_out_ + at_; }

 private:
  __device__ WordBytes load() {
    WordBytes bytes;
    if (left_ > 0) {
      bytes.low = static_cast<std::uint32_t>(next_[0]);
      bytes.high = static_cast<std::uint32_t>(next_[1]);
    }
    next_ += 64;
    left_ -= 32;
    return bytes;
  }

  const std::byte* next_;
  std::int64_t left_;  ///< words from the lane's next one on
  std::uint32_t low_;
  std::uint32_t middle_;
  WordBytes high_;
  unsigned at_ = 0;
  std::uint32_t handed_out_ = 0;
};

struct SharedTable {
  alignas(16) std::uint32_t entries[probability_one];
  std::uint32_t list;  ///< 0: none
  std::uint8_t raw_bits[token_count];
};

/// A table that several steps use is cached in shared memory, whose divergent lookups are faster.
class LaneDecoder {
 public:
  __device__ LaneDecoder(const DecodeTask& task, const FrameSegment& segment, std::uint32_t state,
                         WarpWords& words, SharedTable& shared)
      : task_(task),
        words_(words),
        shared_(shared),
        first_slot_(segment.first),
        end_(segment.first + segment.slots),
        lanes_(segment.lanes()),
        state_(state),
        cursor_(task.slots, segment.list, segment.first) {}

  __device__ std::uint32_t state() const { return state_; }
  __device__ std::uint32_t raw_bits() const { return raw_bits_; }

  /// Decodes up to `most` steps. Returns their number.
  __device__ std::uint32_t take(std::uint32_t step, std::uint32_t most) {
    constexpr std::uint32_t worth_a_table = 24;  // steps
    const std::uint32_t first = first_slot_ + step * lanes_;
    cursor_.move_to(first);
    const std::uint32_t list_end = min(cursor_.end(), end_);
    const std::uint32_t whole = (list_end - first) / lanes_;
    if (whole == 0 || (whole < worth_a_table && shared_.list != cursor_.number())) {
      take_mixed(first + threadIdx.x % 32);
      return 1;
    }
    if (shared_.list != cursor_.number()) load_table();
    const std::uint32_t count = min(whole, most);
    take_alike(first + threadIdx.x % 32, count);
    return count;
  }

 private:
  __device__ void load_table() {
    const unsigned lane = threadIdx.x % 32;
    __syncwarp();
    const auto* const from = reinterpret_cast<const uint4*>(
        task_.entries + std::uint64_t{cursor_.number()} * probability_one);
    auto* const to = reinterpret_cast<uint4*>(shared_.entries);
#pragma unroll 8
    for (std::uint32_t i = lane; i < probability_one / 4; i += 32) to[i] = from[i];
    const auto kind = static_cast<std::uint32_t>(cursor_.list().kind);
    for (std::uint32_t i = lane; i < token_count; i += 32) {
      shared_.raw_bits[i] = task_.raw_bit_counts[kind * token_count + i];
    }
    if (lane == 0) shared_.list = cursor_.number();
    __syncwarp();
  }

  __device__ void take_alike(std::uint32_t slot, std::uint32_t steps) {
    const bool on = threadIdx.x % 32 < lanes_;
    std::uint8_t* token_at = task_.tokens + slot;
#pragma unroll 4
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (on) {
        const std::uint32_t entry = shared_.entries[decoder_slot(state_)];
        const std::uint32_t token = token_of_entry(entry);
        *token_at = static_cast<std::uint8_t>(token);
        raw_bits_ += shared_.raw_bits[token];
        state_ = take_token(state_, entry);
      }
      token_at += lanes_;
      refill(on);
    }
  }

  /// A step whose lanes may use several lists.
  __device__ void take_mixed(std::uint32_t slot) {
    const bool on = threadIdx.x % 32 < lanes_ && slot < end_;
    if (on) {
      ListCursor own = cursor_;
      own.move_to(slot);
      const std::uint32_t entry =
          task_.entries[std::uint64_t{own.number()} * probability_one + decoder_slot(state_)];
      const std::uint32_t token = token_of_entry(entry);
      task_.tokens[slot] = static_cast<std::uint8_t>(token);
      raw_bits_ +=
          task_.raw_bit_counts[static_cast<std::uint32_t>(own.list().kind) * token_count + token];
      state_ = take_token(state_, entry);
    }
    __syncwarp();
    refill(on);
  }

  __device__ void refill(bool on) {
    const bool needed = on && needs_refill(state_);
    const std::uint32_t word = words_.take(needed);
    if (needed) state_ = refilled(state_, static_cast<std::uint16_t>(word));
  }

  const DecodeTask& task_;
  WarpWords& words_;
  SharedTable& shared_;
  std::uint32_t first_slot_;
  std::uint32_t end_;
  std::uint32_t lanes_;
  std::uint32_t state_;
  std::uint32_t raw_bits_ = 0;
  ListCursor cursor_;
};

/// By a warp. Returns the end of the segment's bytes, or null on a flaw.
__device__ const std::byte* take_tokens(const DecodeTask& task, std::uint32_t number,
                                        const std::byte* begin, const std::byte* end,
                                        SharedTable& shared) {
  const unsigned lane = threadIdx.x % 32;
  const FrameSegment segment = task.slots.segments[number];
  const std::uint32_t lanes = segment.lanes();
  const std::byte* const first_word = begin + lanes * sizeof(std::uint32_t);
  if (end - begin < first_word - begin) return nullptr;
  const auto words_there = static_cast<std::uint32_t>(
      min(static_cast<std::uint64_t>(end - first_word) / 2, std::uint64_t{1} << 30));
  WarpWords words(first_word, words_there);
  std::uint32_t state =
      lane < lanes ? static_cast<std::uint32_t>(get_bytes(begin + 4 * lane, 4)) : lane_start;
  LaneDecoder decoder(task, segment, state, words, shared);
  const std::uint32_t steps = segment.steps();
  for (std::uint32_t step = 0; step < steps;) {
    if (step % SegmentPolicy::tile_steps == 0) {
      const std::uint32_t before = __reduce_add_sync(~0U, decoder.raw_bits());
      if (lane == 0)
        task.tile_bits[number * segment_tiles + step / SegmentPolicy::tile_steps] = before;
    }
    step += decoder.take(step, SegmentPolicy::tile_steps - step % SegmentPolicy::tile_steps);
  }

  state = decoder.state();
  const std::uint32_t bits = __reduce_add_sync(~0U, decoder.raw_bits());
  const std::uint32_t carrying = carrying_lanes(lanes, bits);
  const std::uint32_t rest_words = (bits + carried_bits - 1) / carried_bits - carrying;
  const std::uint32_t taken = words.taken();
  if (taken > words_there || rest_words > words_there - taken) return nullptr;
  const bool ends =
      lane >= lanes || (lane < carrying ? state >> carried_bits == 1 : state == lane_start);
  if (!__all_sync(~0U, ends)) return nullptr;
  const std::byte* const rest = first_word + 2 * std::uint64_t{taken};
  const std::byte* const rest_end = rest + 2 * std::uint64_t{rest_words};
  if (bits % carried_bits != 0 && get_bytes(rest_end - 2, 2) >> bits % carried_bits != 0) {
    return nullptr;
  }
  task.carried[number * most_lanes + lane] = static_cast<std::uint16_t>(state);
  if (lane == 0) task.raw[number] = {rest, rest_words, carrying, 1};
  return rest_end;
}

__global__ void __launch_bounds__(SegmentPolicy::decoder_threads)
    decode_runs(const __grid_constant__ DecodeTask task) {
  __shared__ SharedTable shared;
  const SegmentRun run = task.runs[blockIdx.x];
  if (threadIdx.x == 0) shared.list = ~0U;
  __syncwarp();
  const std::byte* at = run.begin;
  for (std::uint32_t i = 0; i < run.count && at != nullptr; ++i) {
    at = take_tokens(task, run.first + i, at, run.end, shared);
  }
  if (at != run.end && threadIdx.x % 32 == 0) atomicOr(task.flaws, bad_ans_segment);
}

class RawString {
 public:
  __device__ RawString(const RawPlace& place, const std::uint16_t* carried)
      : place_(place), carried_(carried) {}

  __device__ std::uint32_t get(std::uint32_t at, std::uint32_t count) const {
    if (count == 0) return 0;
    const std::uint32_t mask = (1U << count) - 1;
    if (at < place_.carrying * carried_bits) {
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < 3; ++i) {
        bits |= std::uint64_t{word(at / carried_bits + i)} << (carried_bits * i);
      }
      return static_cast<std::uint32_t>(bits >> at % carried_bits) & mask;
    }
    at -= place_.carrying * carried_bits;
    const auto address = reinterpret_cast<std::uintptr_t>(place_.rest) + at / 8;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(address / 4 * 4);
    const std::uint32_t skip = static_cast<std::uint32_t>(address % 4) * 8 + at % 8;
    const std::uint32_t low = load(words);
    const std::uint32_t high = skip + count > 32 ? load(words + 1) : 0;
    return __funnelshift_rc(low, high, skip) & mask;
  }

 private:
  __device__ std::uint32_t word(std::uint32_t i) const {
    if (i < place_.carrying) return carried_[i];
    i -= place_.carrying;
    return i < place_.rest_words
               ? static_cast<std::uint32_t>(get_bytes(place_.rest + 2 * std::uint64_t{i}, 2))
               : 0;
  }
  /// The aligned word at `from`; bytes past the end read as 0 and are not accessed.
  __device__ std::uint32_t load(const std::uint32_t* from) const {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
    const auto left = place_.rest + 2 * std::uint64_t{place_.rest_words} - bytes;
    if (left >= 4) return *from;
    return left <= 0 ? 0
                     : static_cast<std::uint32_t>(get_bytes(bytes, static_cast<unsigned>(left)));
  }

  RawPlace place_;
  const std::uint16_t* carried_;
};

/// Slots of one list. Returns their raw bits.
template <SlotKind kind, class Value>
__device__ std::uint32_t put_alike(const DecodeTask& task, std::uint32_t slot, Value* values,
                                   const RawString& raw, std::uint32_t raw_at) {
  std::uint32_t tokens[SegmentPolicy::rounds];
  std::uint32_t bits[SegmentPolicy::rounds];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) tokens[k] = task.tokens[slot + 32 * k];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) bits[k] = raw_bits_of(kind, tokens[k]);
  const FourSums sums(bits);
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) {
    values[32 * k] = static_cast<Value>(
        value_of_slot(kind, tokens[k], raw.get(raw_at + sums.before[k], bits[k]), task.centre));
  }
  return sums.total;
}
__device__ std::uint32_t put_alike(const DecodeTask& task, const FrameList& list,
                                   std::uint32_t slot, const RawString& raw, std::uint32_t raw_at) {
  QuantCode* const codes = list.codes + (slot - list.first);
  std::uint32_t* const numbers = list.numbers + (slot - list.first);
  switch (list.kind) {
    case SlotKind::code: return put_alike<SlotKind::code>(task, slot, codes, raw, raw_at);
    case SlotKind::gap: return put_alike<SlotKind::gap>(task, slot, numbers, raw, raw_at);
    case SlotKind::inner_gap:
      return put_alike<SlotKind::inner_gap>(task, slot, numbers, raw, raw_at);
    default: return put_alike<SlotKind::magnitude>(task, slot, numbers, raw, raw_at);
  }
}

/// Slots of several lists, or fewer than `rounds` per lane. Returns their raw bits.
__device__ std::uint32_t put_mixed(const DecodeTask& task, const ListCursor& first,
                                   std::uint32_t slot, std::uint32_t end, const RawString& raw,
                                   std::uint32_t raw_at) {
  std::uint32_t tokens[SegmentPolicy::rounds];
  std::uint32_t bits[SegmentPolicy::rounds];
  ListCursor cursor = first;
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) {
    const std::uint32_t i = slot + 32 * k;
    tokens[k] = 0;
    bits[k] = 0;
    if (i >= end) continue;
    cursor.move_to(i);
    tokens[k] = task.tokens[i];
    bits[k] = raw_bits_of(cursor.list().kind, tokens[k]);
  }
  const FourSums sums(bits);
  cursor = first;
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) {
    const std::uint32_t i = slot + 32 * k;
    if (i >= end) continue;
    cursor.move_to(i);
    const FrameList& list = cursor.list();
    list.set_value(i, value_of_slot(list.kind, tokens[k], raw.get(raw_at + sums.before[k], bits[k]),
                                    task.centre));
  }
  return sums.total;
}

__global__ void __launch_bounds__(SegmentPolicy::threads)
    put_values(const __grid_constant__ DecodeTask task) {
  const std::uint32_t number = warp_number();
  const std::uint32_t segment_number = number / segment_tiles;
  if (segment_number >= task.slots.segment_count) return;
  const RawPlace place = task.raw[segment_number];
  if (place.is_decoded == 0) return;
  const FrameSegment segment = task.slots.segments[segment_number];
  const SlotTile tile(segment, number % segment_tiles);
  if (tile.begin == tile.end) return;
  const RawString raw(place, task.carried + segment_number * most_lanes);
  const std::uint32_t end = segment.first + tile.end;
  std::uint32_t raw_at = task.tile_bits[number];
  ListCursor cursor(task.slots, segment.list, segment.first + tile.begin);
  for (std::uint32_t start = segment.first + tile.begin; start < end;
       start += 32 * SegmentPolicy::rounds) {
    cursor.move_to(start);
    const std::uint32_t slot = start + threadIdx.x % 32;
    if (start + 32 * SegmentPolicy::rounds <= min(cursor.end(), end)) {
      raw_at += put_alike(task, cursor.list(), slot, raw, raw_at);
    } else {
      raw_at += put_mixed(task, cursor, slot, end, raw, raw_at);
    }
  }
}

const std::uint16_t* upload_frequencies(DeviceContext& gpu, std::span<const FrequencyTable> tables,
                                        CopyList& uploads) {
  std::vector<std::uint16_t> frequencies;
  for (const FrequencyTable& table : tables) {
    frequencies.insert(frequencies.end(), table.frequencies.begin(), table.frequencies.end());
  }
  return upload(gpu, frequencies.data(), frequencies.size(), uploads);
}

const std::uint32_t* make_entries(DeviceContext& gpu, const std::uint16_t* frequencies,
                                  std::size_t tables) {
  auto* const entries = gpu.take<std::uint32_t>(tables * probability_one);
  fill_entries<<<grid_of(tables), SegmentPolicy::threads, 0, gpu.stream()>>>(frequencies, entries);
  check_launch("fill_entries");
  return entries;
}

const std::uint8_t* upload_raw_bit_counts(DeviceContext& gpu, CopyList& uploads) {
  std::vector<std::uint8_t> counts;
  for (const SlotKind kind :
       {SlotKind::code, SlotKind::gap, SlotKind::inner_gap, SlotKind::magnitude}) {
    for (unsigned token = 0; token < token_count; ++token) {
      counts.push_back(
          static_cast<std::uint8_t>(token < tokens_of(kind) ? raw_bits_of(kind, token) : 0));
    }
  }
  return upload(gpu, counts.data(), counts.size(), uploads);
}

}  // namespace

void decode_segments(DeviceContext& gpu, const FrameSlots& slots,
                     std::span<const FrequencyTable> tables, std::span<const SegmentRun> runs,
                     std::uint32_t centre, CopyList& uploads) {
  if (slots.segment_count == 0) return;
  const std::uint64_t segments = slots.segment_count;
  DecodeTask task{};
  task.slots = slots;
  task.centre = centre;
  const std::uint16_t* const frequencies = upload_frequencies(gpu, tables, uploads);
  task.raw_bit_counts = upload_raw_bit_counts(gpu, uploads);
  task.runs = upload(gpu, runs.data(), runs.size(), uploads);
  uploads.run(gpu.stream());
  task.entries = make_entries(gpu, frequencies, tables.size());
  task.run_count = static_cast<std::uint32_t>(runs.size());
  task.tokens = gpu.take<std::uint8_t>(slots.slots);
  task.tile_bits = gpu.take<std::uint32_t>(segments * segment_tiles);
  task.carried = gpu.take<std::uint16_t>(segments * most_lanes);
  task.raw = gpu.take_zeroed<RawPlace>(segments);
  task.flaws = gpu.flaws();
  decode_runs<<<grid_of(runs.size()), SegmentPolicy::decoder_threads, 0, gpu.stream()>>>(task);
  check_launch("decode_runs");
  put_values<<<blocks_for(segments * segment_tiles, SegmentPolicy::warps), SegmentPolicy::threads,
               0, gpu.stream()>>>(task);
  check_launch("put_values");
}

}  // namespace cuszi::gpu
