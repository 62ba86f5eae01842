#include "gpu/coders/ans_segments.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::uint32_t most_raw_bits = 28;  ///< of a token
constexpr unsigned buffer_words = SegmentPolicy::rounds * most_raw_bits + 2;

struct EncodeTask {
  FrameSlots slots;
  std::uint32_t centre;
  const PackedShare* shares;  ///< [list][token]
  std::uint8_t* tokens;       ///< [slot]
  std::uint32_t* tile_bits;   ///< [segment][tile]: of the tile, then the sum before it in the
                              ///< segment
  std::uint32_t* raw_bits;    ///< [segment]
  std::uint32_t* raw_sizes;   ///< [segment], in 32-bit words
  std::uint64_t* raw_starts;
  std::uint32_t* raw_words;
  std::uint32_t* states;  ///< [segment][lane]
  std::uint16_t* words;
  std::uint32_t* word_counts;
  std::uint32_t* bytes;
};

__global__ void __launch_bounds__(SegmentPolicy::threads)
    find_tokens(const __grid_constant__ EncodeTask task) {
  const std::uint32_t number = warp_number();
  if (number >= task.slots.segment_count * segment_tiles) return;
  const FrameSegment segment = task.slots.segments[number / segment_tiles];
  const SlotTile tile(segment, number % segment_tiles);
  std::uint32_t bits = 0;
  if (tile.begin + threadIdx.x % 32 < tile.end) {
    const std::uint32_t first = segment.first + tile.begin + threadIdx.x % 32;
    ListCursor cursor(task.slots, segment.list, first);
    for (std::uint32_t slot = first; slot < segment.first + tile.end; slot += 32) {
      cursor.move_to(slot);
      const FrameList& list = cursor.list();
      const Token token = token_of(list.kind, list.value(slot), task.centre);
      task.tokens[slot] = token.token;
      bits += token.raw_bits;
    }
  }
  __syncwarp();
  bits = __reduce_add_sync(~0U, bits);
  if (threadIdx.x % 32 == 0) task.tile_bits[number] = bits;
}

/// One warp per segment, one lane per tile.
__global__ void __launch_bounds__(SegmentPolicy::threads)
    sum_raw_bits(const __grid_constant__ EncodeTask task) {
  static_assert(segment_tiles <= 32);
  const std::uint32_t number = warp_number();
  if (number >= task.slots.segment_count) return;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t* const own = task.tile_bits + number * segment_tiles + lane;
  const std::uint32_t bits = lane < segment_tiles ? *own : 0;
  const std::uint32_t sum = sum_to_lane(bits);
  if (lane < segment_tiles) *own = sum - bits;
  if (lane + 1 == segment_tiles) {
    task.raw_bits[number] = sum;
    task.raw_sizes[number] = (sum + 31) / 32;
  }
}

/// Other warps write neighbouring bits.
class RawBits {
 public:
  __device__ RawBits(std::uint32_t* buffer, std::uint32_t* words, std::uint32_t first_bit)
      : buffer_(buffer), word_(words + first_bit / 32), used_(first_bit % 32) {
    for (unsigned i = threadIdx.x % 32; i < buffer_words; i += 32) buffer_[i] = 0;
    __syncwarp();
  }

  __device__ void put(std::uint32_t at, const Token& token) {
    if (token.raw_bits == 0) return;
    at += used_;
    atomicOr(buffer_ + at / 32, token.raw << at % 32);
    if (at % 32 + token.raw_bits > 32) {
      atomicOr(buffer_ + at / 32 + 1, token.raw >> (32 - at % 32));
    }
  }

  /// Writes the words completed by `bits` further bits.
  __device__ void advance(std::uint32_t bits) {
    const unsigned lane = threadIdx.x % 32;
    __syncwarp();
    const std::uint32_t full = (used_ + bits) / 32;
    for (std::uint32_t i = lane; i < full; i += 32) {
      if (i == 0 && is_shared_) {
        atomicOr(word_, buffer_[0]);
      } else {
        word_[i] = buffer_[i];
      }
    }
    const std::uint32_t last = buffer_[full];
    __syncwarp();
    for (std::uint32_t i = lane; i <= full; i += 32) buffer_[i] = i == 0 ? last : 0;
    __syncwarp();
    used_ = (used_ + bits) % 32;
    word_ += full;
    is_shared_ = is_shared_ && full == 0;
  }

  __device__ void finish() const {
    if (used_ != 0 && threadIdx.x % 32 == 0) atomicOr(word_, buffer_[0]);
  }

 private:
  std::uint32_t* buffer_;
  std::uint32_t* word_;
  std::uint32_t used_;
  bool is_shared_ = true;
};

__device__ void put_raw(const Token (&tokens)[SegmentPolicy::rounds], RawBits& out) {
  std::uint32_t bits[SegmentPolicy::rounds];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) bits[k] = tokens[k].raw_bits;
  const FourSums sums(bits);
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) out.put(sums.before[k], tokens[k]);
  out.advance(sums.total);
}

/// Slots of one list.
template <SlotKind kind, class Value>
__device__ void put_alike(const Value* values, std::uint32_t centre, RawBits& out) {
  std::uint32_t loaded[SegmentPolicy::rounds];
  Token tokens[SegmentPolicy::rounds];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) loaded[k] = values[32 * k];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k)
    tokens[k] = token_of(kind, loaded[k], centre);
  put_raw(tokens, out);
}
__device__ void put_alike(const EncodeTask& task, const FrameList& list, std::uint32_t slot,
                          RawBits& out) {
  const QuantCode* const codes = list.codes + (slot - list.first);
  const std::uint32_t* const numbers = list.numbers + (slot - list.first);
  switch (list.kind) {
    case SlotKind::code: return put_alike<SlotKind::code>(codes, task.centre, out);
    case SlotKind::gap: return put_alike<SlotKind::gap>(numbers, task.centre, out);
    case SlotKind::inner_gap: return put_alike<SlotKind::inner_gap>(numbers, task.centre, out);
    default: return put_alike<SlotKind::magnitude>(numbers, task.centre, out);
  }
}

/// Slots of several lists, or fewer than `rounds` per lane.
__device__ void put_mixed(const EncodeTask& task, ListCursor cursor, std::uint32_t slot,
                          std::uint32_t end, RawBits& out) {
  Token tokens[SegmentPolicy::rounds];
#pragma unroll
  for (unsigned k = 0; k < SegmentPolicy::rounds; ++k) {
    tokens[k] = {0, 0, 0};
    const std::uint32_t i = slot + 32 * k;
    if (i >= end) continue;
    cursor.move_to(i);
    tokens[k] = token_of(cursor.list().kind, cursor.list().value(i), task.centre);
  }
  __syncwarp();
  put_raw(tokens, out);
}

__global__ void __launch_bounds__(SegmentPolicy::threads)
    write_raw_bits(const __grid_constant__ EncodeTask task) {
  __shared__ std::uint32_t buffers[SegmentPolicy::warps][buffer_words];
  const std::uint32_t number = warp_number();
  if (number >= task.slots.segment_count * segment_tiles) return;
  const std::uint32_t segment_number = number / segment_tiles;
  const FrameSegment segment = task.slots.segments[segment_number];
  const SlotTile tile(segment, number % segment_tiles);
  if (tile.begin == tile.end) return;
  RawBits out(buffers[threadIdx.x / 32], task.raw_words + task.raw_starts[segment_number],
              task.tile_bits[number]);
  const std::uint32_t end = segment.first + tile.end;
  ListCursor cursor(task.slots, segment.list, segment.first + tile.begin);
  for (std::uint32_t start = segment.first + tile.begin; start < end;
       start += 32 * SegmentPolicy::rounds) {
    cursor.move_to(start);
    const std::uint32_t slot = start + threadIdx.x % 32;
    if (start + 32 * SegmentPolicy::rounds <= min(cursor.end(), end)) {
      put_alike(task, cursor.list(), slot, out);
    } else {
      put_mixed(task, cursor, slot, end, out);
    }
  }
  out.finish();
}

/// Backwards; words end up in decoding order.
class LaneEncoder {
 public:
  __device__ LaneEncoder(const EncodeTask& task, const FrameSegment& segment, std::uint32_t state)
      : task_(task),
        first_slot_(segment.first),
        end_(segment.first + segment.slots),
        lanes_(segment.lanes()),
        state_(state),
        word_(task.words + end_),
        cursor_(task.slots, segment.list, end_ - 1) {}

  __device__ std::uint32_t state() const { return state_; }
  __device__ std::uint32_t words() const {
    return static_cast<std::uint32_t>(task_.words + end_ - word_);
  }

  /// Encodes the last of `left` steps and some before. Returns the steps left.
  __device__ std::uint32_t put(std::uint32_t left) {
    const std::uint32_t last = first_slot_ + (left - 1) * lanes_;  // slot of lane 0
    const std::uint32_t last_end = min(last + lanes_, end_);
    cursor_.move_to(last_end - 1);
    const std::uint32_t list_first = max(cursor_.first(), first_slot_);
    if (last < list_first || last + lanes_ > end_) {
      put_mixed(last + threadIdx.x % 32);
      return left - 1;
    }
    const std::uint32_t whole = (last - list_first) / lanes_ + 1;
    put_alike(last + threadIdx.x % 32, whole);
    return left - whole;
  }

 private:
  /// Steps of one list, backwards from `slot`.
  __device__ void put_alike(std::uint32_t slot, std::uint32_t steps) {
    constexpr unsigned batch = 8;
    const bool on = threadIdx.x % 32 < lanes_;
    const PackedShare* const shares = task_.shares + cursor_.number() * token_count;
    for (; steps >= batch; steps -= batch, slot -= batch * lanes_) {
      PackedShare found[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        if (on) found[k] = shares[task_.tokens[slot - k * lanes_]];
      }
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) put_share(found[k], on);
    }
    for (; steps > 0; --steps, slot -= lanes_) {
      put_share(on ? shares[task_.tokens[slot]] : PackedShare{}, on);
    }
  }

  /// A step whose lanes may use several lists, or none.
  __device__ void put_mixed(std::uint32_t slot) {
    const bool on = threadIdx.x % 32 < lanes_ && slot < end_;
    PackedShare share;
    if (on) {
      ListCursor own = cursor_;
      own.move_to(slot);
      share = task_.shares[own.number() * token_count + task_.tokens[slot]];
    }
    __syncwarp();
    put_share(share, on);
  }

  __device__ void put_share(const PackedShare& share, bool on) {
    const unsigned below = (1U << (threadIdx.x % 32)) - 1;
    const bool spills = on && spills_for_token(state_, share.frequency());
    const unsigned spilling = __ballot_sync(~0U, spills);
    word_ -= __popc(spilling);
    if (spills) {
      word_[__popc(spilling & below)] = static_cast<std::uint16_t>(state_);
      state_ >>= 16;
    }
    if (on) state_ = share.put(state_);
  }

  const EncodeTask& task_;
  std::uint32_t first_slot_;
  std::uint32_t end_;
  std::uint32_t lanes_;
  std::uint32_t state_;
  std::uint16_t* word_;
  ListCursor cursor_;
};

/// One warp per segment.
__global__ void __launch_bounds__(SegmentPolicy::encoder_threads)
    put_tokens(const __grid_constant__ EncodeTask task) {
  const std::uint32_t number = warp_number();
  if (number >= task.slots.segment_count) return;
  const unsigned lane = threadIdx.x % 32;
  const FrameSegment segment = task.slots.segments[number];
  const std::uint32_t raw_bits = task.raw_bits[number];
  const std::uint32_t carrying = carrying_lanes(segment.lanes(), raw_bits);
  const auto* const raw =
      reinterpret_cast<const std::uint16_t*>(task.raw_words + task.raw_starts[number]);
  LaneEncoder encoder(task, segment, lane_start + (lane < carrying ? raw[lane] : 0));
  for (std::uint32_t left = segment.steps(); left > 0;) left = encoder.put(left);
  task.states[number * most_lanes + lane] = encoder.state();
  if (lane == 0) {
    task.word_counts[number] = encoder.words();
    task.bytes[number] =
        4 * segment.lanes() + 2 * (encoder.words() + (raw_bits + 15) / 16 - carrying);
  }
}

/// One thread block per segment.
__global__ void __launch_bounds__(SegmentPolicy::threads)
    store_segment(FrameSlots slots, CodedSegments segments, std::byte* const* places) {
  const std::uint32_t number = blockIdx.x;
  const FrameSegment segment = slots.segments[number];
  const std::uint32_t lanes = segment.lanes();
  const std::uint32_t carrying = carrying_lanes(lanes, segments.raw_bits[number]);
  auto* out = reinterpret_cast<std::uint16_t*>(places[number]);
  const auto append = [&](const std::uint16_t* words, std::uint32_t count) {
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < count; i += SegmentPolicy::threads) out[i] = words[i];
    out += count;
  };
  append(reinterpret_cast<const std::uint16_t*>(segments.states + number * most_lanes), 2 * lanes);
  const std::uint32_t words = segments.word_counts[number];
  append(segments.words + segment.first + segment.slots - words, words);
  append(reinterpret_cast<const std::uint16_t*>(segments.raw_words + segments.raw_starts[number]) +
             carrying,
         (segments.raw_bits[number] + 15) / 16 - carrying);
}

/// One thread block per table, one thread per token.
__global__ void __launch_bounds__(token_count)
    pack_shares(const std::uint16_t* frequencies, PackedShare* shares) {
  const std::uint16_t* const own = frequencies + blockIdx.x * token_count;
  std::uint32_t before = 0;
  for (unsigned token = 0; token < threadIdx.x; ++token) before += own[token];
  shares[blockIdx.x * token_count + threadIdx.x] = PackedShare::of({own[threadIdx.x], before});
}

const PackedShare* packed_shares(DeviceContext& gpu, std::span<const FrequencyTable> tables,
                                 CopyList& uploads) {
  const std::size_t count = tables.size() * token_count;
  auto* const frequencies = gpu.take_pinned<std::uint16_t>(count);
  auto* next = frequencies;
  for (const FrequencyTable& table : tables)
    next = std::copy(table.frequencies.begin(), table.frequencies.end(), next);
  auto* const on_device = gpu.take<std::uint16_t>(count);
  uploads.add(CopyPiece::of(on_device, frequencies, count));
  uploads.run(gpu.stream());
  auto* const shares = gpu.take<PackedShare>(count);
  pack_shares<<<static_cast<unsigned>(tables.size()), token_count, 0, gpu.stream()>>>(on_device,
                                                                                      shares);
  check_launch("pack_shares");
  return shares;
}

}  // namespace

CodedSegments encode_segments(DeviceContext& gpu, const FrameSlots& slots,
                              std::span<const FrequencyTable> tables, std::uint64_t raw_bits,
                              std::uint32_t centre, CopyList& uploads) {
  const std::uint64_t segments = slots.segment_count;
  EncodeTask task{};
  task.slots = slots;
  task.centre = centre;
  task.shares = packed_shares(gpu, tables, uploads);
  task.tokens = gpu.take<std::uint8_t>(slots.slots);
  task.tile_bits = gpu.take<std::uint32_t>(segments * segment_tiles);
  task.raw_bits = gpu.take<std::uint32_t>(segments);
  task.raw_sizes = gpu.take<std::uint32_t>(segments);
  task.raw_starts = gpu.take<std::uint64_t>(segments + 1);
  task.raw_words = gpu.take_zeroed<std::uint32_t>(raw_bits / 32 + segments);
  task.states = gpu.take<std::uint32_t>(segments * most_lanes);
  task.words = gpu.take<std::uint16_t>(slots.slots);
  task.word_counts = gpu.take<std::uint32_t>(segments);
  task.bytes = gpu.take<std::uint32_t>(segments);
  const unsigned tile_blocks = blocks_for(segments * segment_tiles, SegmentPolicy::warps);
  find_tokens<<<tile_blocks, SegmentPolicy::threads, 0, gpu.stream()>>>(task);
  check_launch("find_tokens");
  sum_raw_bits<<<blocks_for(segments, SegmentPolicy::warps), SegmentPolicy::threads, 0,
                 gpu.stream()>>>(task);
  check_launch("sum_raw_bits");
  exclusive_sums(gpu, task.raw_sizes, segments, task.raw_starts);
  write_raw_bits<<<tile_blocks, SegmentPolicy::threads, 0, gpu.stream()>>>(task);
  check_launch("write_raw_bits");
  put_tokens<<<blocks_for(segments, SegmentPolicy::encoder_threads / 32),
               SegmentPolicy::encoder_threads, 0, gpu.stream()>>>(task);
  check_launch("put_tokens");
  return {download(gpu, task.bytes, segments),
          task.states,
          task.words,
          task.word_counts,
          task.raw_words,
          task.raw_bits,
          task.raw_starts};
}

void store_segments(DeviceContext& gpu, const FrameSlots& slots, const CodedSegments& segments,
                    std::span<std::byte* const> places, CopyList& uploads) {
  std::byte* const* const on_device = upload(gpu, places.data(), places.size(), uploads);
  uploads.run(gpu.stream());
  store_segment<<<slots.segment_count, SegmentPolicy::threads, 0, gpu.stream()>>>(slots, segments,
                                                                                  on_device);
  check_launch("store_segment");
}

}  // namespace cuszi::gpu
