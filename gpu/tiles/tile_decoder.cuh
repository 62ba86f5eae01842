#pragma once

#include "core/tiles/tile_words.hpp"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/many.cuh"
#include "gpu/tiles/tiles.cuh"
#include "gpu/tiles/word_planes.cuh"

namespace cuszi::gpu {

/// Values, which are converted to their stored type as they are written.
template <class S>
struct PlainValues {
  using Stored = S;
  static constexpr bool are_logs = false;
};
template <class T>
struct ValuesOfLogs {
  using Stored = T;
  static constexpr bool are_logs = true;
  LogRestorer<T> restorer;
};

/// Of words of tiles.
struct BitsOfValues {
  using Stored = std::uint32_t;
  static constexpr bool are_logs = false;
};

template <class T, class Shape, class Points = PlainValues<T>>
struct TileRestoreTask {
  TileGrid grid;
  TileMap<Shape> map;
  TileQuantizer<T> quantizer;
  T min;
  T max;
  const std::byte* index;
  const std::byte* codes;
  std::uint64_t code_words;
  typename Points::Stored* values;
  std::uint32_t* flaws;
  Points points;
};

template <class T, class Shape>
struct TileRestoreTask<T, Shape, BitsOfValues> {
  TileGrid grid;
  TileMap<Shape> map;
  TileWordMap words;
  const std::byte* index;
  const std::byte* codes;
  std::uint64_t code_words;
  T* values;
  std::uint32_t* flaws;
};

/// Unaligned.
class WordReader {
 public:
  __device__ explicit WordReader(const std::byte* from)
      : words_(reinterpret_cast<const std::uint32_t*>(reinterpret_cast<std::uintptr_t>(from) &
                                                      ~std::uintptr_t{3})),
        shift_(8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3)),
        next_(shift_ == 0 ? 0 : 1) {}

  /// Branches here would keep loads from overlapping.
  __device__ std::uint32_t operator[](std::uint64_t i) const {
    return __funnelshift_r(__ldg(words_ + i), __ldg(words_ + i + next_), shift_);
  }

 private:
  const std::uint32_t* words_;
  unsigned shift_;
  unsigned next_;  ///< 0 if there is no need of it, since it may lie outside
};

/// To shared memory, by a block of `threads`; `loads` of a thread overlap.
template <unsigned threads, unsigned loads>
__device__ void bring_words(const WordReader& from, std::uint32_t words, std::uint32_t* to) {
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x; first < words; first += loads * threads) {
    std::uint32_t loaded[loads];
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const std::uint32_t at = first + i * threads;
      loaded[i] = from[at < words ? at : first];
    }
    std::uint32_t* const here = to + first;
#pragma unroll
    for (unsigned i = 0; i < loads; ++i)
      if (first + i * threads < words) here[i * threads] = loaded[i];
  }
}

/// By flags of four bytes: a byte selector that expands nonzero bytes and, above, the number of
/// bits.
class Spread {
 public:
  /// By the first threads of a block.
  __device__ static void make(std::uint32_t (&entries)[16]) {
    if (threadIdx.x >= 16) return;
    std::uint32_t select = 0;
    std::uint32_t rank = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      select |= (((threadIdx.x >> byte) & 1) != 0 ? rank++ : 4) << (4 * byte);
    entries[threadIdx.x] = select | (8 * rank) << 16;
  }

  __device__ explicit Spread(const std::uint32_t* entries) : entries_(entries) {}

  __device__ std::uint32_t operator()(std::uint32_t flags, const std::uint8_t* data,
                                      std::uint32_t& first, std::uint32_t& second) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const auto shift = static_cast<unsigned>(address % 4) * 8;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(data - address % 4);
    const std::uint32_t low = __funnelshift_r(words[0], words[1], shift);
    const std::uint32_t high = __funnelshift_r(words[1], words[2], shift);
    const std::uint32_t here = entries_[flags % 16];
    const std::uint32_t there = entries_[flags / 16];
    first = permute(low, 0, here);
    second = permute(__funnelshift_rc(low, high, here >> 16), 0, there);
    return ((here >> 16) + (there >> 16)) / 8;
  }
  static constexpr unsigned reads_beyond = 2;  ///< words

 private:
  const std::uint32_t* entries_;
};

template <class Shape>
struct WideIntegers {
  static constexpr bool is_wide = true;
  static constexpr unsigned slices = TileHead::max_pairs / 4;
  WarpPoints integers;

  template <class ReadSlice>
  __device__ void read(std::uint32_t pairs, const ReadSlice& read_slice) {
#pragma unroll
    for (std::uint32_t& integer : integers) integer = 0;
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      std::uint32_t first[4] = {};
      std::uint32_t second[4] = {};
      read_slice(slice, first, second);
      add_slice(slice, first, second);
    }
#pragma unroll
    for (std::uint32_t& integer : integers) integer = unzigzag32(integer);
  }
  template <int axis>
  __device__ void sum_along(unsigned lane) {
    sum<Shape, axis>(integers, lane);
  }
  __device__ std::uint32_t get(int point) const { return integers[point]; }
  /// See exchange_fours().
  __device__ void exchange(unsigned lane) {
    exchange_fours(&integers[0], lane);
    exchange_fours(&integers[lane_points / 2], lane);
  }

 private:
  __device__ void add_slice(unsigned slice, const std::uint32_t (&first)[4],
                            const std::uint32_t (&second)[4]) {
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      const std::uint32_t(&pair)[4] = group < 2 ? first : second;
      const unsigned select = group % 2 == 0 ? 0x5410 : 0x7632;
      std::uint32_t low = __byte_perm(pair[0], pair[1], select);
      std::uint32_t high = __byte_perm(pair[2], pair[3], select);
      transpose_bits(low, high);
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) {
        const std::uint32_t byte = __byte_perm(bit < 4 ? low : high, 0, 0x4440 | bit % 4);
        integers[Shape::point_of(group, bit)] |= byte << (8 * slice);
      }
    }
  }
};

/// Integers that mostly have all their planes.
template <class Shape>
struct WordIntegers : WideIntegers<Shape> {
  template <class ReadSlice>
  __device__ void read(std::uint32_t pairs, const ReadSlice& read_slice) {
    PlaneWords planes = {};
#pragma unroll
    for (unsigned slice = 0; slice < WideIntegers<Shape>::slices; ++slice) {
      if (4 * slice >= pairs) break;
      std::uint32_t first[4] = {};
      std::uint32_t second[4] = {};
      read_slice(slice, first, second);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        planes[8 * slice + 2 * i] = __byte_perm(first[i], second[i], 0x6420);
        planes[8 * slice + 2 * i + 1] = __byte_perm(first[i], second[i], 0x7531);
      }
    }
    const std::uint32_t signs = planes[0];
#pragma unroll
    for (int i = 0; i < 31; ++i) planes[i] = planes[i + 1] ^ signs;
    planes[31] = signs;
    transpose_planes(planes);
#pragma unroll
    for (int i = 0; i < 32; ++i) this->integers[Shape::point_of(i / 8, i % 8)] = planes[i];
  }
};

template <class Shape>
struct NarrowIntegers {
  static constexpr bool is_wide = false;
  static constexpr unsigned slices = narrow_pairs / 4;
  WarpPairs pairs;

  template <class ReadSlice>
  __device__ void read(std::uint32_t plane_pairs, const ReadSlice& read_slice) {
    NarrowPlanes planes;
    std::uint32_t(&first)[2][4] = planes.first;
    std::uint32_t(&second)[2][4] = planes.second;
    if (plane_pairs > 0) read_slice(0, first[0], second[0]);
    if (plane_pairs > 4) read_slice(1, first[1], second[1]);
    pairs_from_planes<Shape>(planes, plane_pairs > 4, pairs);
  }
  template <int axis>
  __device__ void sum_along(unsigned lane) {
    sum_pairs<Shape, axis>(pairs, lane);
  }
  __device__ std::uint32_t get(int point) const {
    const std::uint32_t pair = pairs[point % lane_pairs];
    return point < lane_pairs
               ? static_cast<std::uint32_t>(static_cast<std::int32_t>(pair << 16) >> 16)
               : high_of(pair);
  }
  /// See exchange_fours().
  __device__ void exchange(unsigned lane) { exchange_fours(&pairs[0], lane); }
};

template <class T, class Shape, bool vector, class Integers, class Points>
struct TileDecoder {
  using Stored = typename Points::Stored;

  const TileRestoreTask<T, Shape, Points>& task;
  TileHead head;
  typename TileMap<Shape>::Tile tile;
  unsigned lane;
  Spread spread;
  Integers integers;

  __device__ TileDecoder(const TileRestoreTask<T, Shape, Points>& t, const TileHead& h,
                         std::uint64_t number, const Spread& s)
      : task(t), head(h), tile(t.map[number]), lane(threadIdx.x % 32), spread(s) {}

  /// Returns false if the tile does not fill its bytes.
  __device__ bool restore(const std::uint32_t* words, const std::uint8_t* bytes) {
    if (head.raw) {
      store_values([&](int point) { return raw_value(words, point); });
      return head.bytes == 0;
    }
    if (head.pairs > 4 * Integers::slices) return false;
    const std::uint32_t* const lanes = words + 2 * head.dense * tile_lanes;
    const std::uint64_t base = base_of(bytes);
    std::uint32_t used = head.base_bytes;
    std::uint32_t signs = 0;
    if constexpr (Points::are_logs) {
      if (!read_signs(base, bytes, used, signs)) return false;
    }
    const std::uint8_t* const flags = bytes + used;
    for (std::uint32_t pair = 0; pair < head.pairs - head.dense; ++pair)
      used += static_cast<unsigned>(__popc(lanes[pair]));
    if (used > head.bytes) return false;
    const WarpScan data = scan_warp(data_bytes(lanes, flags), lane);
    const std::uint32_t data_begin = used + data.before;
    used += data.all;
    if (used > head.bytes) return false;
    read_integers(words, lanes, flags, bytes + data_begin);
    sum_up();
    if constexpr (Points::are_logs) {
      const auto first = unzigzag32(static_cast<std::uint32_t>(base >> TileSigns::base_bits));
      if (!task.points.restorer.is_normal) {
        store_values_of_logs<false>(first, signs);
      } else if (__any_sync(whole_warp, signs != 0)) {
        store_values_of_logs<true>(first, signs);
      } else {
        store_values_of_logs<true>(first, 0);
      }
    } else if constexpr (std::is_same_v<Points, BitsOfValues>) {
      store_bits(TileWordBase::from(base));
      return used == head.bytes && !head.patched;
    } else {
      store_restored(unzigzag32(static_cast<std::uint32_t>(base)));
    }
    if (!head.patched) return used == head.bytes;
    __syncwarp();
    return put_patches(bytes + used, head.bytes - used);
  }

 private:
  __device__ std::uint64_t base_of(const std::uint8_t* bytes) const {
    std::uint64_t base = 0;
    for (unsigned i = 0; i < head.base_bytes; ++i) base |= std::uint64_t{bytes[i]} << (8 * i);
    return base;
  }

  /// From `used` on, as bits of negative points of this lane. Returns false past the tile's bytes.
  __device__ bool read_signs(std::uint64_t base, const std::uint8_t* bytes, std::uint32_t& used,
                             std::uint32_t& signs) const {
    signs = 0 - static_cast<std::uint32_t>(base & TileSigns::all_negative);
    if ((base & TileSigns::differ) == 0) return true;
    const auto word_at = [&](std::uint32_t at) {
      return static_cast<std::uint32_t>(
          get_bytes(reinterpret_cast<const std::byte*>(bytes + used + at), 4));
    };
    if (used + TileSigns::bytes_of(0) > head.bytes) return false;
    const std::uint32_t negative = word_at(0);
    const std::uint32_t mixed = word_at(4);
    const auto rank = static_cast<unsigned>(__popc(mixed & lanes_below(lane)));
    const std::uint32_t size = TileSigns::bytes_of(static_cast<unsigned>(__popc(mixed)));
    if (used + size > head.bytes) return false;
    signs =
        (mixed >> lane & 1) != 0 ? word_at(TileSigns::bytes_of(rank)) : 0 - (negative >> lane & 1);
    used += size;
    return true;
  }

  __device__ void store_restored(std::uint32_t base) {
    store_in_rows([&](int point) {
      return clamp_restored(task.quantizer.restored(integers.get(point) + base), task.min,
                            task.max);
    });
  }
  __device__ void store_bits(const TileWordBase& base) {
    store_in_rows([&](int point) {
      return task.words.bits_of(integers.get(point) + base.first, base.zeros);
    });
  }

  /// Exchanges integers where that helps.
  template <class ValueAt>
  __device__ void store_in_rows(const ValueAt& restored) {
    if constexpr (vector && are_in_line<Shape>) {
      if (task.map.is_whole(tile)) {
        integers.exchange(lane);
        return store_exchanged(restored);
      }
    }
    store_values(restored);
  }

  /// After exchange().
  template <class ValueAt>
  __device__ void store_exchanged(const ValueAt& value_at) const {
    Stored* const to = task.values + task.map.first_index(tile, 0);
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
      T four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = value_at(point + i);
      store_four(four, to + exchanged_place(lane, point));
    }
  }

  template <bool normal>
  __device__ void store_values_of_logs(std::uint32_t base, std::uint32_t signs) const {
    store_values([&](int point) {
      return task.points.restorer.template restored<normal>(
          task.quantizer.restored(integers.get(point) + base), signs >> point);
    });
  }

  __device__ std::uint32_t data_bytes(const std::uint32_t* lanes, const std::uint8_t* flags) const {
    std::uint32_t count = 0;
    for (std::uint32_t pair = 0; pair < head.pairs - head.dense; ++pair) {
      count += static_cast<unsigned>(__popc(flags_at(lanes[pair], flags)));
      flags += __popc(lanes[pair]);
    }
    return count;
  }

  /// Flags of a pair's nonzero bytes; `lanes` have any.
  __device__ std::uint32_t flags_at(std::uint32_t lanes, const std::uint8_t* flags) const {
    return ((lanes >> lane) & 1) != 0 ? flags[__popc(lanes & lanes_below(lane))] : 0;
  }

  __device__ void read_integers(const std::uint32_t* words, const std::uint32_t* lanes,
                                const std::uint8_t* flags, const std::uint8_t* data) {
    integers.read(head.pairs, [&](unsigned slice, std::uint32_t(&one)[4], std::uint32_t(&two)[4]) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t pair = 4 * slice + i;
        if (pair >= head.pairs) break;
        if (pair < head.dense) {
          one[i] = words[2 * pair * tile_lanes + lane];
          two[i] = words[(2 * pair + 1) * tile_lanes + lane];
          continue;
        }
        const std::uint32_t having = lanes[pair - head.dense];
        data += spread(flags_at(having, flags), data, one[i], two[i]);
        flags += __popc(having);
      }
    });
  }

  __device__ void sum_up() {
    if constexpr (Shape::extents[0] > 1) {
      if ((head.axes & 4) != 0) integers.template sum_along<0>(lane);
    }
    if constexpr (Shape::extents[1] > 1) {
      if ((head.axes & 2) != 0) integers.template sum_along<1>(lane);
    }
    if ((head.axes & 1) != 0) integers.template sum_along<2>(lane);
  }

  __device__ T raw_value(const std::uint32_t* words, int point) const {
    const std::uint32_t* const from =
        words + (static_cast<unsigned>(point) * tile_lanes + lane) * (sizeof(T) / 4);
    BitsOf<T> bits = from[0];
    if constexpr (sizeof(T) == 8) bits |= static_cast<BitsOf<T>>(from[1]) << 32;
    return std::bit_cast<T>(bits);
  }

  template <class ValueAt>
  __device__ void store_values(const ValueAt& value_at) const {
    const PointsInside inside = task.map.inside(tile, lane);
    Stored* const to = task.values + task.map.first_index(tile, lane);
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
      Stored* const row = to + task.map.offset_of(point);
      if constexpr (vector) {
        T four[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) four[i] = value_at(point + i);
        if (inside.template has<Shape>(point)) store_four(four, row);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (inside.template has<Shape>(point + i))
            row[i] = converted_to<Stored>(value_at(point + i));
      }
    }
  }

  __device__ bool put_patches(const std::uint8_t* bytes, std::uint32_t size) const {
    if (size < 2) return false;
    const std::uint32_t count = bytes[0] | std::uint32_t{bytes[1]} << 8;
    if (size != patch_bytes<T>(count)) return false;
    bool fits = true;
    for (std::uint32_t i = lane; i < count; i += tile_lanes) {
      const std::uint8_t* const place = bytes + 2 + 2 * i;
      const std::uint32_t position = place[0] | std::uint32_t{place[1]} << 8;
      const auto* const value =
          reinterpret_cast<const std::byte*>(bytes + 2 + 2 * count + sizeof(T) * i);
      fits &= position < tile_points && patch(position, get_bytes(value, sizeof(T)));
    }
    return __all_sync(whole_warp, fits);
  }

  /// Returns false outside the field.
  __device__ bool patch(std::uint32_t position, std::uint64_t bits) const {
    const TileGrid::Place place = task.grid.template place_of<Shape>(
        task.map.first_point(tile), static_cast<int>(position / lane_points),
        static_cast<int>(position % lane_points));
    if (!place.inside) return false;
    task.values[place.index] = converted_to<Stored>(std::bit_cast<T>(static_cast<BitsOf<T>>(bits)));
    return true;
  }
};

struct TileInChunk {
  TileHead head;
  std::uint64_t number;  ///< in the field
  Spread spread;
  const std::uint32_t* words;
  const std::uint8_t* bytes;
};

/// Returns false if the tile does not fill its bytes.
template <bool vector, class Integers, class T, class Shape, class Points>
__device__ bool restore_tile_by(const TileRestoreTask<T, Shape, Points>& task,
                                const TileInChunk& tile) {
  return TileDecoder<T, Shape, vector, Integers, Points>(task, tile.head, tile.number, tile.spread)
      .restore(tile.words, tile.bytes);
}

template <bool vector, class Integers, class T, class Shape, class S>
__device__ bool restore_tile(const TileRestoreTask<T, Shape, PlainValues<S>>& task,
                             const TileInChunk& tile) {
  return restore_tile_by<vector, Integers>(task, tile);
}
template <bool vector, class Integers, class T, class Shape>
__device__ bool restore_tile(const TileRestoreTask<T, Shape, BitsOfValues>& task,
                             const TileInChunk& tile) {
  return restore_tile_by<vector, Integers>(task, tile);
}
/// Tiles of logarithms are marked as narrow.
template <bool vector, class Integers, class T, class Shape>
__device__ bool restore_tile(const TileRestoreTask<T, Shape, ValuesOfLogs<T>>& task,
                             const TileInChunk& tile) {
  const bool is_narrow = tile.head.base_bytes != 0 && (tile.bytes[0] & TileSigns::narrow) != 0;
  return is_narrow || tile.head.raw ? restore_tile_by<vector, NarrowIntegers<Shape>>(task, tile)
                                    : restore_tile_by<vector, WideIntegers<Shape>>(task, tile);
}

/// One chunk per thread block, one tile per warp.
template <class T, class Shape, bool vector, class Integers, class Points, class Frames>
__global__ void __launch_bounds__(TilesPolicy<T>::threads,
                                  TilesPolicy<T, Integers::is_wide>::decode_blocks)
    decode_chunks(const __grid_constant__ Frames frames) {
  constexpr unsigned tiles = TilesPolicy<T>::tiles;
  __shared__ std::uint32_t chunk[max_chunk_words<T> + Spread::reads_beyond];
  __shared__ std::uint32_t spreads[16];
  __shared__ alignas(std::uint64_t) std::uint32_t shared_task[Frames::shared_words];
  unsigned number;
  const TileRestoreTask<T, Shape, Points>& task = frames.find(shared_task, number);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{number} * tiles;
  const std::uint64_t left = task.grid.count - first;
  const auto here = static_cast<unsigned>(left < tiles ? left : tiles);
  const WordReader index(task.index);
  const std::uint64_t begin = index[number];
  const std::uint64_t end = number + 1 < task.grid.chunks ? index[number + 1] : task.code_words;
  const bool bounded = begin <= end && end <= task.code_words &&
                       end - begin <= max_chunk_words<T> && end - begin >= here &&
                       (number != 0 || begin == 0);
  if (!bounded) {
    if (threadIdx.x == 0) atomicOr(task.flaws, static_cast<unsigned>(bad_tiles));
    return;
  }
  const auto words = static_cast<std::uint32_t>(end - begin);
  const WordReader codes(task.codes + 4 * begin);
  using Policy = TilesPolicy<T, Integers::is_wide>;
  bring_words<Policy::threads, Policy::loads>(codes, words, chunk);
  Spread::make(spreads);
  __syncthreads();
  if (warp >= here) return;
  const bool valid = __all_sync(whole_warp, lane >= here || TileHead::from(chunk[lane]).is_valid());
  const TilePlace place = place_of<T>(chunk, here, warp, lane);
  bool whole = valid && (place.chunk_bytes + 3) / 4 == words;
  if (whole) {
    whole = restore_tile<vector, Integers>(
        task,
        TileInChunk{TileHead::from(chunk[warp]), first + warp, Spread(spreads), chunk + place.word,
                    reinterpret_cast<const std::uint8_t*>(chunk) + place.byte});
  }
  if (!whole && lane == 0) atomicOr(task.flaws, static_cast<unsigned>(bad_tiles));
}

}  // namespace cuszi::gpu
