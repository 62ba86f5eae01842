#include <algorithm>

#include "gpu/coders/coder.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/field/chunk_index.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr int usual_merge = 3;

/// 2^merge symbols, loaded and merged at once.
template <int merge>
struct alignas(2U << merge) SymbolPack {
  static constexpr unsigned size = 1U << merge;

  QuantCode symbols[size];
};

template <int merge>
constexpr unsigned warp_symbols = 32 * HuffmanEncodePolicy::packs* SymbolPack<merge>::size;
template <int merge>
constexpr unsigned tile_symbols = HuffmanEncodePolicy::warps* warp_symbols<merge>;

/// State of a tile for look-back: two bits of state, then a bit count.
enum TileState : std::uint64_t {
  state_shift = 62,
  own_bits = 1,  ///< of the tile alone
  all_bits = 2,  ///< of all tiles up to it
  count_mask = (std::uint64_t{1} << state_shift) - 1,
};

struct EncodeTask {
  const QuantCode* symbols;
  std::uint64_t count;
  unsigned tiles;
  const std::uint64_t* units;
  const std::uint32_t* short_units;
  std::uint32_t bins;
  std::uint32_t tile_words;  ///< of a tile's codewords, plus one
  std::uint32_t log_chunk;
  std::uint32_t* stream;
  BitCount* chunk_starts;
  unsigned long long* tile_states;
  unsigned long long* next_tile;
};

/// Writes the low `length` (<= 64) bits of `code` to a zeroed bit string; higher bits must be 0.
__device__ inline void put_bits(std::uint32_t* words, std::uint32_t first_bit, std::uint64_t code,
                                int length) {
  const std::uint64_t left = code << (-length & 63);
  const auto high = static_cast<std::uint32_t>(left >> 32);
  const auto low = static_cast<std::uint32_t>(left);
  const std::uint32_t skip = first_bit % 32;
  std::uint32_t* const to = words + first_bit / 32;
  set_bits(to, high >> skip);
  set_bits(to + 1, __funnelshift_r(low, high, skip));
  set_bits(to + 2, __funnelshift_r(0, low, skip));
}

/// Bits of all previous tiles, by a warp (decoupled look-back, Merrill and Garland).
__device__ BitCount bits_before(volatile unsigned long long* states, unsigned tile, BitCount own) {
  const unsigned lane = threadIdx.x % 32;
  BitCount before = 0;
  for (std::int64_t last = std::int64_t{tile} - 1; last >= 0; last -= 32) {
    const std::int64_t at = last - lane;
    std::uint64_t state = all_bits << state_shift;
    do {
      if (at >= 0) state = states[at];
    } while (__any_sync(~0U, state >> state_shift == 0));
    const unsigned complete = __ballot_sync(~0U, state >> state_shift == all_bits);
    const unsigned needed =
        complete == 0 ? 32 : static_cast<unsigned>(__ffs(static_cast<int>(complete)));
    BitCount bits = lane < needed ? state & count_mask : 0;
    for (int distance = 16; distance > 0; distance /= 2)
      bits += __shfl_xor_sync(~0U, bits, distance);
    before += bits;
    if (complete != 0) break;
  }
  if (lane == 0) states[tile] = (std::uint64_t{all_bits} << state_shift) | (before + own);
  return before;
}

/// The 32 bits before a tile, by a warp. A tile stores the words that end in it.
__device__ std::uint32_t bits_in_front(const EncodeTask& task, std::uint64_t first_symbol) {
  using Unit = DeviceCodebook::Unit;
  if (first_symbol == 0) return 0;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t unit = task.units[task.symbols[first_symbol - 32 + lane]];
  const auto own = static_cast<unsigned>(Unit::length(unit));
  unsigned behind = own;  // inclusive suffix sum of bits
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned right = __shfl_down_sync(~0U, behind, distance);
    if (lane + distance < 32) behind += right;
  }
  behind -= own;
  const auto code = static_cast<std::uint32_t>(Unit::code(unit));
  return __reduce_or_sync(~0U, behind < 32 ? code << behind : 0);
}

/// The stream's words are big-endian.
__device__ void store_bits(const std::uint32_t* words, std::uint32_t in_front, BitCount start,
                           std::uint32_t bits, bool last, std::uint32_t* stream) {
  const auto skip = static_cast<std::uint32_t>(start % 32);
  const std::uint32_t count = (skip + bits + (last ? 31 : 0)) / 32;
  for (std::uint32_t i = threadIdx.x; i < count; i += HuffmanEncodePolicy::threads) {
    const std::uint32_t word = __funnelshift_r(words[i], i == 0 ? in_front : words[i - 1], skip);
    stream[start / 32 + i] = __byte_perm(word, 0, 0x0123);
  }
}

extern __shared__ __align__(16) std::uint32_t encode_memory[];

/// One tile per thread block. A warp's symbols are consecutive; a thread has every 32nd pack.
template <bool SharedUnits, int merge>
class TileEncoder {
  using Unit = DeviceCodebook::Unit;
  static constexpr unsigned pack_symbols = SymbolPack<merge>::size;
  static constexpr unsigned left_symbols = pack_symbols / 2;
  static constexpr unsigned right_symbols = pack_symbols - left_symbols;
  static_assert(right_symbols * ShortUnit::too_long < 1U << ShortUnit::length_bits);

 public:
  __device__ TileEncoder(const EncodeTask& task, unsigned tile)
      : task_(task),
        words_(encode_memory),
        short_units_(SharedUnits ? encode_memory + task.tile_words : task.short_units),
        first_(std::uint64_t{tile} * tile_symbols<merge> + threadIdx.x / 32 * warp_symbols<merge> +
               threadIdx.x % 32 * pack_symbols) {}

  static __device__ void prepare(const EncodeTask& task) {
    auto* const quads = reinterpret_cast<uint4*>(encode_memory);
    for (std::uint32_t i = threadIdx.x; i < task.tile_words / 4; i += HuffmanEncodePolicy::threads)
      quads[i] = make_uint4(0, 0, 0, 0);
    if constexpr (SharedUnits) {
      std::uint32_t* const units = encode_memory + task.tile_words;
      for (std::uint32_t i = threadIdx.x; i < task.bins; i += HuffmanEncodePolicy::threads)
        units[i] = task.short_units[i];
    }
  }

  __device__ void load() {
#pragma unroll
    for (unsigned k = 0; k < HuffmanEncodePolicy::packs; ++k) {
      if (valid(k) == pack_symbols) {
        packs_[k] = *reinterpret_cast<const SymbolPack<merge>*>(task_.symbols + first(k));
      } else {
#pragma unroll
        for (unsigned i = 0; i < pack_symbols; ++i) {
          packs_[k].symbols[i] = i < valid(k) ? task_.symbols[first(k) + i] : 0;
        }
      }
    }
  }

  /// Merges codewords of packs, and sets the packs' starts within the warp. Returns the warp's
  /// bits.
  __device__ std::uint32_t measure() {
    std::uint64_t own = 0;  // 16 bits per pack: at most 512 x 56
#pragma unroll
    for (unsigned k = 0; k < HuffmanEncodePolicy::packs; ++k) {
      merge_pack(k);
      own |= static_cast<std::uint64_t>(bits_[k]) << (16 * k);
    }
    const std::uint64_t sum = sum_to_lane(own);
    const std::uint64_t all = __shfl_sync(~0U, sum, 31);
    std::uint32_t before = 0;
#pragma unroll
    for (unsigned k = 0; k < HuffmanEncodePolicy::packs; ++k) {
      start_[k] = before + (static_cast<std::uint32_t>((sum - own) >> (16 * k)) & 0xFFFFU);
      before += static_cast<std::uint32_t>(all >> (16 * k)) & 0xFFFFU;
    }
    return before;
  }

  __device__ void write(std::uint32_t warp_start) {
#pragma unroll
    for (unsigned k = 0; k < HuffmanEncodePolicy::packs; ++k) {
      start_[k] += warp_start;
      if (bits_[k] <= 64)
        put_bits(words_, start_[k], merged_[k], bits_[k]);
      else
        write_singly(k);
    }
  }

  __device__ void mark_chunks(BitCount tile_start) const {
    const std::uint64_t in_chunk = (std::uint64_t{1} << task_.log_chunk) - 1;
#pragma unroll
    for (unsigned k = 0; k < HuffmanEncodePolicy::packs; ++k) {
      if (in_chunk + 1 >= pack_symbols) {
        if (valid(k) != 0 && (first(k) & in_chunk) == 0) {
          task_.chunk_starts[first(k) >> task_.log_chunk] = tile_start + start_[k];
        }
        continue;
      }
      BitCount at = tile_start + start_[k];
#pragma unroll
      for (unsigned i = 0; i < pack_symbols; ++i) {
        if (i >= valid(k)) break;
        if (((first(k) + i) & in_chunk) == 0)
          task_.chunk_starts[(first(k) + i) >> task_.log_chunk] = at;
        at += static_cast<unsigned>(Unit::length(unit_of(k, i)));
      }
    }
  }

 private:
  /// Merges up to 64 bits, usually half a pack per register.
  __device__ void merge_pack(unsigned k) {
    const Half left = merge_half<left_symbols>(packs_[k].symbols);
    const Half right = merge_half<right_symbols>(packs_[k].symbols + left_symbols);
    merged_[k] = (std::uint64_t{left.merged} << right.bits) | right.merged;
    bits_[k] = left.bits + right.bits;
    if (left.bits > 32 || right.bits > 32 || valid(k) != pack_symbols) merge_wide(k);
  }
  struct Half {
    std::uint32_t merged;
    int bits;
  };
  template <unsigned count>
  __device__ Half merge_half(const QuantCode* symbols) const {
    std::uint32_t sum = 0;
    std::uint32_t merged = 0;
    if constexpr (count != 0) {
#pragma unroll
      for (unsigned i = 0; i < count; ++i) {
        const std::uint32_t unit = short_units_[symbols[i]];
        merged = __funnelshift_l(0, merged, unit) | ShortUnit::code(unit);  // shifts by the low 5
                                                                            // bits
        sum += unit;
      }
    }
    return {merged, ShortUnit::length(sum)};
  }
  __device__ void merge_wide(unsigned k) {
    merged_[k] = 0;
    bits_[k] = 0;
#pragma unroll
    for (unsigned i = 0; i < pack_symbols; ++i) {
      if (i >= valid(k)) break;
      const std::uint64_t unit = unit_of(k, i);
      merged_[k] = (merged_[k] << Unit::length(unit)) | Unit::code(unit);
      bits_[k] += Unit::length(unit);
    }
  }

  /// A pack above 64 bits.
  __device__ void write_singly(unsigned k) {
    std::uint32_t at = start_[k];
#pragma unroll 1
    for (unsigned i = 0; i < valid(k); ++i) {
      const std::uint64_t unit = unit_of(k, i);
      put_bits(words_, at, Unit::code(unit), Unit::length(unit));
      at += static_cast<unsigned>(Unit::length(unit));
    }
  }

  /// Reloads the symbol: keeping packs would spill registers.
  __device__ std::uint64_t unit_of(unsigned k, unsigned i) const {
    return task_.units[task_.symbols[first(k) + i]];
  }

  __device__ std::uint64_t first(unsigned k) const { return first_ + k * 32 * pack_symbols; }
  __device__ unsigned valid(unsigned k) const {
    if (first(k) >= task_.count) return 0;
    const std::uint64_t left = task_.count - first(k);
    return left < pack_symbols ? static_cast<unsigned>(left) : pack_symbols;
  }

  const EncodeTask& task_;
  std::uint32_t* words_;
  const std::uint32_t* short_units_;
  std::uint64_t first_;
  SymbolPack<merge> packs_[HuffmanEncodePolicy::packs];
  std::uint64_t merged_[HuffmanEncodePolicy::packs];
  int bits_[HuffmanEncodePolicy::packs];
  std::uint32_t start_[HuffmanEncodePolicy::packs];
};

/// Persistent blocks claim a tile only when its work begins, so that later tiles do not wait.
template <bool SharedUnits, int merge>
__global__ void __launch_bounds__(HuffmanEncodePolicy::threads,
                                  HuffmanEncodePolicy::blocks_of_multiprocessor)
    encode_tiles(const __grid_constant__ EncodeTask task) {
  __shared__ unsigned long long next;
  __shared__ std::uint32_t warp_bits[HuffmanEncodePolicy::warps];
  __shared__ BitCount tile_start;
  __shared__ std::uint32_t in_front;
  TileEncoder<SharedUnits, merge>::prepare(task);
  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(task.next_tile, 1ULL);
    __syncthreads();
    const auto tile = static_cast<unsigned>(next);
    if (tile >= task.tiles) return;
    const bool last = tile + 1 == task.tiles;
    TileEncoder<SharedUnits, merge> encoder(task, tile);
    encoder.load();
    const std::uint32_t bits = encoder.measure();
    if (threadIdx.x % 32 == 0) warp_bits[threadIdx.x / 32] = bits;
    __syncthreads();
    std::uint32_t warp_start = 0;
    std::uint32_t tile_bits = 0;
    for (unsigned warp = 0; warp < HuffmanEncodePolicy::warps; ++warp) {
      if (warp < threadIdx.x / 32) warp_start += warp_bits[warp];
      tile_bits += warp_bits[warp];
    }
    if (threadIdx.x == 0) {
      atomicExch(task.tile_states + tile, (std::uint64_t{own_bits} << state_shift) | tile_bits);
    }
    encoder.write(warp_start);
    if (threadIdx.x / 32 == 0) {
      const BitCount before = bits_before(task.tile_states, tile, tile_bits);
      if (threadIdx.x == 0) {
        tile_start = before;
        const std::uint64_t chunks = ((task.count - 1) >> task.log_chunk) + 1;
        if (last) task.chunk_starts[chunks] = before + tile_bits;
      }
    } else if (threadIdx.x / 32 == 1) {
      const std::uint32_t front = bits_in_front(task, std::uint64_t{tile} * tile_symbols<merge>);
      if (threadIdx.x % 32 == 0) in_front = front;
    }
    __syncthreads();
    encoder.mark_chunks(tile_start);
    store_bits(encode_memory, in_front, tile_start, tile_bits, last, task.stream);
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < tile_bits / 32 + 1; i += HuffmanEncodePolicy::threads)
      encode_memory[i] = 0;
  }
}

template <bool SharedUnits, int merge>
void launch(DeviceContext& gpu, const EncodeTask& task) {
  const ByteCount shared =
      (task.tile_words + (SharedUnits ? task.bins : 0)) * sizeof(std::uint32_t);
  auto* const kernel = encode_tiles<SharedUnits, merge>;
  raise_shared_limit(gpu.device(), kernel);
  const unsigned blocks = std::min(
      task.tiles, gpu.device().multiprocessors * HuffmanEncodePolicy::blocks_of_multiprocessor);
  kernel<<<blocks, HuffmanEncodePolicy::threads, shared, gpu.stream()>>>(task);
  check_launch("encode_tiles");
}

struct Coding {
  const QuantCode* symbols;
  std::uint64_t count;
  std::uint32_t chunk;
  const DeviceCodebook& book;
  BitCount* starts;                 ///< of chunks, and the last one's end
  unsigned long long* tile_states;  ///< zeroed: next tile, then states
};

std::uint64_t tiles_of(std::uint64_t count, int merge) {
  return ceil_div(
      count, std::uint64_t{HuffmanEncodePolicy::warps * 32 * HuffmanEncodePolicy::packs} << merge);
}

/// Contiguous; sets coding.starts.
template <int merge>
Bytes encode_chunks(DeviceContext& gpu, const Coding& coding) {
  const DeviceCodebook& book = coding.book;
  auto* const stream = gpu.take<std::uint32_t>(ceil_div(*book.total, 32));
  EncodeTask task{};
  task.tiles = grid_of(tiles_of(coding.count, merge));
  task.symbols = coding.symbols;
  task.count = coding.count;
  task.units = book.units;
  task.short_units = book.short_units;
  task.bins = book.symbols;
  // A multiple of 4 for clearing, with one more word for the shift.
  task.tile_words = (tile_symbols<merge> / 32 * *book.longest + 1 + 3) / 4 * 4;
  while ((1U << task.log_chunk) < coding.chunk) ++task.log_chunk;
  task.stream = stream;
  task.chunk_starts = coding.starts;
  task.next_tile = coding.tile_states;
  task.tile_states = coding.tile_states + 1;
  if (task.bins <= HuffmanEncodePolicy::most_shared_units)
    launch<true, merge>(gpu, task);
  else
    launch<false, merge>(gpu, task);
  return {reinterpret_cast<const std::byte*>(stream), ceil_div(*book.total, 8)};
}

Bytes encode_chunks(DeviceContext& gpu, int merge, const Coding& coding) {
  switch (merge) {
    case 0: return encode_chunks<0>(gpu, coding);
    case 1: return encode_chunks<1>(gpu, coding);
    case 2: return encode_chunks<2>(gpu, coding);
    case 4: return encode_chunks<4>(gpu, coding);
    default: return encode_chunks<usual_merge>(gpu, coding);
  }
}

/// Throws like core if a codeword exceeds the unit, or any unit.
void check_longest(const DeviceCodebook& book, HuffmanWidth width) {
  const auto longest = static_cast<int>(*book.longest);
  const std::span<const std::uint8_t> lengths(book.lengths, book.symbols);
  if (longest > max_code_length) codewords<std::uint64_t>(lengths);
  if (use_narrow_units(width, longest) && longest > Codeword<std::uint32_t>::code_bits)
    codewords<std::uint32_t>(lengths);
}

}  // namespace

HuffmanStream huffman_encode(DeviceContext& gpu, const HuffmanParams& params,
                             const HuffmanTuning& tuning, const QuantCode* symbols,
                             std::uint64_t count, const DeviceCodebook& book) {
  const int merge = tuning.merge.value_or(usual_merge);
  auto* const tile_states = gpu.take_zeroed<unsigned long long>(tiles_of(count, merge) + 1);
  gpu.sync();
  HuffmanStream result;
  const auto codebook = count == 0 ? empty_codebook() : write_lengths({book.lengths, book.symbols});
  auto* const kept = gpu.take_pinned<std::byte>(codebook.size());
  std::copy(codebook.begin(), codebook.end(), kept);
  result.codebook = {kept, codebook.size()};
  if (count == 0) return result;

  check_longest(book, tuning.width);
  const std::uint64_t chunks = ceil_div(count, params.chunk);
  auto* const starts = gpu.take<BitCount>(chunks + 1);
  const Coding coding{symbols, count, params.chunk, book, starts, tile_states};
  result.codes = encode_chunks(gpu, merge, coding);
  const std::uint64_t most_bits = std::uint64_t{params.chunk} * *book.longest;
  result.index = encode_index(gpu, params.index, params.partition, starts, chunks, most_bits);
  return result;
}

}  // namespace cuszi::gpu
