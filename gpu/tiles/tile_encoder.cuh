#pragma once

#include "gpu/runtime/many.cuh"
#include "gpu/tiles/byte_sink.cuh"
#include "gpu/tiles/tile_extremes.cuh"
#include "gpu/tiles/tile_numbers.cuh"
#include "gpu/tiles/tile_task.cuh"

namespace cuszi::gpu {

/// A bit for each negative point.
template <class T>
__device__ std::uint32_t negative_points(const T (&values)[lane_points]) {
  std::uint32_t negative = 0;
#pragma unroll
  for (unsigned point = 0; point < lane_points; ++point)
    negative |= std::uint32_t{values[point] < 0} << point;
  return negative;
}

template <class T, class Shape, bool vector, class Numbers, class Points>
struct TileEncoder {
  static constexpr bool are_words = std::is_same_v<Points, WordPoints>;

  const TileTask<T, Shape, Points>& task;
  typename TileMap<Shape>::Tile tile;
  unsigned lane;
  Numbers numbers;
  typename Numbers::Unions unions;
  std::uint32_t base;
  std::uint32_t zeros = 0;  ///< of words
  std::uint32_t patched = 0;
  std::uint32_t patches = 0;   ///< of all lanes
  std::uint32_t negative = 0;  ///< bits of this lane's points, for logarithms
  TileSigns signs;
  bool is_narrow = false;  ///< set for logarithms
  TileHead head;

  __device__ TileEncoder(const TileTask<T, Shape, Points>& t, std::uint64_t number)
      : task(t), tile(t.map[number]), lane(threadIdx.x % 32) {}

  /// Integers relative to the tile's first point. `certain`: all points are certainly within the
  /// bound. `negative_values`: signs, if logarithms were made here. Overwrites the points.
  __device__ void quantise(T (&points)[lane_points], bool certain, std::uint32_t negative_values) {
    const std::uint32_t absent = make_integers(points, certain);
    if constexpr (Points::are_logs) {
      negative = negative_values;
      if constexpr (!Points::makes_logs) {
        load_values<vector>(task.map, task.points.values, tile, lane, points);
        negative = negative_points(points);
      }
      find_signs(absent);
      is_narrow = numbers.is_within(narrow_reach);
    }
  }

  /// Words relative to the tile's first one, and their extremes.
  __device__ void make_words(const T (&bits)[lane_points], Extremes<T>& seen) {
    std::uint32_t any = 0;
#pragma unroll
    for (const T here : bits) any |= here;
    zeros = low_zeros_of(__reduce_or_sync(whole_warp, any));
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); ++point) {
      const std::uint32_t word = task.words.flipped(bits[point]);
      if (point == 0) seen = {static_cast<std::int32_t>(word), static_cast<std::int32_t>(word)};
      seen.take(word);
      numbers.set(point, TileWordMap::shifted(word, zeros));
    }
    base = numbers.rebase();
  }

  /// Returns the points without integers.
  __device__ std::uint32_t make_integers(const T (&values)[lane_points], bool certain) {
    if constexpr (Numbers::is_narrow || Points::makes_logs) {
      if (certain) {
#pragma unroll
        for (int i = 0; i < static_cast<int>(lane_points); ++i) {
          const int point = i / 2 + i % 2 * lane_pairs;
          numbers.set(point, task.quantizer.integer_of(values[point]));
        }
        if constexpr (Numbers::is_narrow) {
          base = numbers.base(task.quantizer.integer_of(values[0]));
        } else {
          base = numbers.fill(0);
        }
        return 0;
      }
    }
    bool doubtful =
        !Points::are_logs && task.missing.words != nullptr;  // logarithms of missing values are NaN
    std::uint32_t first = 0;
#pragma unroll
    for (int i = 0; i < static_cast<int>(lane_points); ++i) {
      const int point = i / 2 + i % 2 * lane_pairs;
      const auto result = task.quantizer(values[point]);
      numbers.set(point, result.integer);
      if (point == 0) first = result.integer;
      doubtful |= !result.certain;
    }
    std::uint32_t absent = 0;
    if (__any_sync(whole_warp, doubtful)) absent = look_closer();
    if constexpr (Numbers::is_narrow) {
      base = numbers.base(first);
    } else {
      base = numbers.fill(absent);
    }
    return absent;
  }

  __device__ void find_signs(std::uint32_t absent) {
    const bool any = __any_sync(whole_warp, (negative & ~absent) != 0);
    negative = signs_of_lane(negative, absent, any);
    signs.negative = __ballot_sync(whole_warp, ~negative == 0);
    signs.mixed = __ballot_sync(whole_warp, negative != 0 && ~negative != 0);
  }
  __device__ std::uint64_t base_word() const {
    if constexpr (are_words) return TileWordBase{base, zeros}.word();
    return Points::are_logs ? signs.base_of(zigzag32(base), is_narrow) : zigzag32(base);
  }
  __device__ std::uint32_t sign_bytes() const {
    if (!Points::are_logs || signs.alike()) return 0;
    return TileSigns::bytes_of(static_cast<unsigned>(__popc(signs.mixed)));
  }

  __device__ TileGrid::Place place_of(unsigned point) const {
    return task.grid.template place_of<Shape>(task.map.first_point(tile), static_cast<int>(lane),
                                              static_cast<int>(point));
  }

  /// Reloads points with missing or uncertain values. Returns those without integers.
  __device__ std::uint32_t look_closer() {
    std::uint32_t absent = 0;
    unsigned kept_points = 0;
#pragma unroll 1
    for (unsigned point = 0; point < lane_points; ++point) {
      const TileGrid::Place place = place_of(point);
      const std::uint32_t bit = 1U << point;
      if (task.missing.words != nullptr && task.missing.test(place.index)) {
        absent |= bit;
        continue;
      }
      const T value = task.points.seen(converted_to<T>(task.values[place.index]));
      if (Points::makes_logs && value != value && place.inside) ++kept_points;
      const auto result = task.quantizer(value);
      if (!result.in_range && !result.certain) absent |= bit;
      const bool kept = result.certain ||
                        (result.in_range && task.quantizer.fits(value, result.integer, task.rules));
      if (!kept && place.inside) patched |= bit;
    }
    patches = __reduce_add_sync(whole_warp, static_cast<unsigned>(__popc(patched)));
    if constexpr (Points::makes_logs) {
      if (kept_points != 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&task.totals->kept), kept_points);
      }
    }
    const bool strange = !Points::are_logs && __any_sync(whole_warp, absent != 0);
    if (lane == 0 && patches != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&task.totals->patches), patches);
    }
    if (lane == 0 && strange) task.totals->strange = 1;
    return absent;
  }

  /// Replaces the integers by the differences with the fewest nonzero bytes.
  __device__ void choose_axes() {
    std::uint32_t best = ~0U;
    const auto attempt = [&](std::uint32_t candidate) {
      typename Numbers::Unions here;
      numbers.unite(here);
      const std::uint32_t ones = __reduce_add_sync(whole_warp, here.count());
      if (ones > best) return;
      best = ones;
      head.axes = candidate;
      unions = here;
    };
    if constexpr (Shape::extents[0] == 1) attempt(0);
    numbers.template difference_along<2>(lane);
    attempt(1);
    if constexpr (Shape::extents[1] > 1) {
      numbers.template difference_along<1>(lane);
      attempt(3);
    }
    if constexpr (Shape::extents[0] > 1) {
      numbers.template difference_along<0>(lane);
      attempt(7);
      if (head.axes < 4) numbers.template sum_along<0>(lane);
    }
    if constexpr (Shape::extents[1] > 1) {
      if (head.axes < 2) numbers.template sum_along<1>(lane);
    }
    if constexpr (Shape::extents[0] == 1) {
      if (head.axes < 1) numbers.template sum_along<2>(lane);
    }
  }

  /// Returns where this lane's bytes begin after all flags.
  __device__ std::uint32_t make_head() {
    head.pairs = unions.pairs_of(__reduce_or_sync(whole_warp, unions.all()));
    unions.order_by_pair();
    head.base_bytes = base_bytes_of(base_word());
    head.patched = patches != 0;
    std::uint32_t flag_bytes = 0;
    std::uint32_t data_bytes = 0;
    unions.for_each_pair(head.pairs, [&](std::uint32_t pair, std::uint32_t flags) {
      const std::uint32_t counts = __reduce_add_sync(
          whole_warp, static_cast<unsigned>(__popc(flags)) + (flags != 0 ? 1U << 16 : 0));
      const std::uint32_t here = counts >> 16;
      const std::uint32_t data = counts & 0xFFFFU;
      if (pair == head.dense && sparse_pair_bytes + here + data >= dense_pair_bytes) {
        ++head.dense;
      } else {
        flag_bytes += here;
        data_bytes += data;
      }
    });
    const std::uint32_t before = sum_below(unions.count_from(head.dense), lane);
    const std::uint32_t bytes =
        head.base_bytes + sign_bytes() + flag_bytes + data_bytes + patch_bytes<T>(patches);
    if (4 * head.words(0) + bytes >= tile_points * sizeof(T)) {
      head = TileHead{};
      head.raw = true;
    } else {
      head.bytes = bytes;
    }
    return flag_bytes + before;
  }

  __device__ void write(std::uint32_t* words, const ByteSink& tile_bytes, std::uint32_t lane_begin,
                        const Gathers& table) {
    if (head.raw) return write_raw(words);
    if (lane == 0) tile_bytes.put_value(0, base_word());
    ByteSink bytes = tile_bytes;
    bytes.skip(head.base_bytes);
    if (sign_bytes() != 0) {
      write_signs(bytes);
      bytes.skip(sign_bytes());
    }
    ByteSink data = bytes;
    data.skip(lane_begin);
    const auto put_pair = [&](std::uint32_t pair, std::uint32_t first, std::uint32_t second) {
      if (pair < head.dense) {
        words[2 * pair * tile_lanes + lane] = first;
        words[(2 * pair + 1) * tile_lanes + lane] = second;
        return;
      }
      const std::uint32_t flags = unions.flags(pair);
      const std::uint32_t lanes = __ballot_sync(whole_warp, flags != 0);
      if (lane == 0) words[2 * head.dense * tile_lanes + pair - head.dense] = lanes;
      bytes.put_byte(static_cast<unsigned>(__popc(lanes & lanes_below(lane))), flags);
      const Gather gather = table.by_flags[flags];
      const std::uint32_t low = permute(first, 0, gather.low);
      const std::uint32_t high = permute(second, 0, gather.high);
      const std::uint32_t low_bits = gather.low >> 16;
      data.put(0, low | __funnelshift_lc(0, high, low_bits), __funnelshift_lc(high, 0, low_bits));
      data.skip(gather.high >> 19);
      bytes.skip(static_cast<unsigned>(__popc(lanes)));
    };
    if constexpr (are_words) {
      numbers.for_each_pair(head.pairs, put_pair);
    } else {
      numbers.for_each_slice(head.pairs, [&](unsigned slice, const PlaneBytes& planes) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
          const std::uint32_t pair = 4 * slice + i;
          if (pair >= head.pairs) break;
          const std::uint32_t(&half)[4] = i < 2 ? planes.low : planes.high;
          const unsigned select = i % 2 == 0 ? 0x5410 : 0x7632;
          put_pair(pair, __byte_perm(half[0], half[1], select),
                   __byte_perm(half[2], half[3], select));
        }
      });
    }
    if (head.patched) write_patches(tile_bytes, head.bytes - patch_bytes<T>(patches));
  }

  __device__ void write_signs(const ByteSink& bytes) const {
    if (lane == 0) bytes.put(0, signs.negative, signs.mixed);
    if ((signs.mixed >> lane & 1) == 0) return;
    const auto rank = static_cast<unsigned>(__popc(signs.mixed & lanes_below(lane)));
    bytes.put(TileSigns::bytes_of(rank), negative);
  }

  __device__ T original(unsigned point) const {
    return converted_to<T>(task.points.originals(task.values)[place_of(point).index]);
  }

  __device__ void write_patches(const ByteSink& bytes, std::uint32_t at) const {
    ByteSink to = bytes;
    to.skip(at);
    if (lane == 0) to.put(0, patches);
    to.skip(2);
    std::uint32_t rank = sum_below(static_cast<unsigned>(__popc(patched)), lane);
    for (std::uint32_t left = patched; left != 0; left &= left - 1, ++rank) {
      const auto point = static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
      const T value = original(point);
      to.put(2 * rank, lane * lane_points + point);
      to.put_value(2 * patches + static_cast<std::uint32_t>(sizeof(T)) * rank,
                   std::bit_cast<BitsOf<T>>(value));
    }
  }

  __device__ void write_raw(std::uint32_t* words) const {
    if constexpr (are_words) {
      T bits[lane_points];
      load_values<vector>(task.map, task.values, tile, lane, bits);
#pragma unroll
      for (unsigned point = 0; point < lane_points; ++point)
        words[point * tile_lanes + lane] = bits[point];
    } else {
#pragma unroll 1
      for (unsigned point = 0; point < lane_points; ++point) {
        const auto bits = std::bit_cast<BitsOf<T>>(original(point));
        std::uint32_t* const to = words + (point * tile_lanes + lane) * (sizeof(T) / 4);
        to[0] = static_cast<std::uint32_t>(bits);
        if constexpr (sizeof(T) == 8) to[1] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  }
};

template <class T>
struct ChunkOfTiles {
  unsigned number;
  std::uint64_t first;
  unsigned here;
  unsigned warp;
  unsigned lane;

  __device__ ChunkOfTiles(unsigned chunk, const TileGrid& grid)
      : number(chunk),
        first(std::uint64_t{chunk} * TilesPolicy<T>::tiles),
        warp(threadIdx.x / 32),
        lane(threadIdx.x % 32) {
    const std::uint64_t left = grid.count - first;
    here = static_cast<unsigned>(left < TilesPolicy<T>::tiles ? left : TilesPolicy<T>::tiles);
  }

  __device__ bool has_tile() const { return warp < here; }
  __device__ std::uint64_t tile() const { return first + warp; }
};

template <class T>
struct ChunkMemory {
  std::uint32_t words[max_chunk_words<T> + ByteSink::writes_beyond];
  Gathers table;
  std::uint64_t begin;
  Extremes<T> seen[TilesPolicy<T>::tiles];  ///< of points, if sought
  Extremes<T> own[TilesPolicy<T>::tiles];   ///< of values, if logarithms are made here

  __device__ void make_table() {
    for (unsigned i = threadIdx.x; i < 256; i += TilesPolicy<T>::threads)
      table.by_flags[i] = gathers.by_flags[i];
  }
};

template <bool vector, class Numbers, bool seeks, class T, class Shape, class Points>
__device__ __forceinline__ void code_chunk(const TileTask<T, Shape, Points>& task,
                                           const ChunkOfTiles<T>& tiles, T (&points)[lane_points],
                                           Extremes<T>& seen, bool certain, std::uint32_t negative,
                                           ChunkMemory<T>& shared) {
  constexpr unsigned threads = TilesPolicy<T>::threads;
  const unsigned lane = tiles.lane;
  std::uint32_t* const chunk = shared.words;
  TileEncoder<T, Shape, vector, Numbers, Points> tile(task, tiles.tile());
  std::uint32_t lane_begin = 0;
  if (tiles.has_tile()) {
    if constexpr (std::is_same_v<Points, WordPoints>) {
      tile.make_words(points, seen);
    } else {
      tile.quantise(points, certain, negative);
    }
    tile.choose_axes();
    lane_begin = tile.make_head();
    if (seeks && !Points::makes_logs) seen.merge_warp();
    if (lane == 0) {
      chunk[tiles.warp] = tile.head.word();
      if (seeks) shared.seen[tiles.warp] = seen;
    }
  }
  __syncthreads();
  const TilePlace place = place_of<T>(chunk, tiles.here, tiles.has_tile() ? tiles.warp : 0, lane);
  const std::uint32_t words = (place.chunk_bytes + 3) / 4;
  const ChunkOffsets offsets(task.states, tiles.number);
  if (threadIdx.x == 0) offsets.say_size(words);
  for (std::uint32_t i = place.byte_part / 4 + threadIdx.x; i < words; i += threads) chunk[i] = 0;
  __syncthreads();
  if (tiles.has_tile()) {
    tile.write(chunk + place.word, ByteSink(chunk, place.byte), lane_begin, shared.table);
  }
  if (tiles.warp == 0) {
    const std::uint64_t before = offsets.find(words, lane);
    if (lane == 0) {
      shared.begin = before;
      task.index[tiles.number] = static_cast<std::uint32_t>(before);
      if (tiles.first + tiles.here == task.grid.count) task.totals->words = before + words;
    }
  }
  if (threadIdx.x == threads - 1) {
    if (seeks) tell_extremes(shared.seen, tiles.here, task.totals->extremes);
    if (Points::makes_logs) tell_extremes(shared.own, tiles.here, task.totals->own);
  }
  __syncthreads();
  if (shared.begin + words > task.room_words) return;
  std::uint32_t* const to = task.codes + shared.begin;
  for (std::uint32_t i = threadIdx.x; i < words; i += threads) to[i] = chunk[i];
}

/// One chunk per thread block, one tile per warp.
template <class T, class Shape, bool vector, class Numbers, bool seeks, class Points, class Frames>
__global__ void __launch_bounds__(TilesPolicy<T>::threads, TilesPolicy<T>::encode_blocks)
    encode_chunks(const __grid_constant__ Frames frames) {
  __shared__ ChunkMemory<T> shared;
  __shared__ alignas(std::uint64_t) std::uint32_t shared_task[Frames::shared_words];
  unsigned number;
  const TileTask<T, Shape, Points>& task = frames.find(shared_task, number);
  const ChunkOfTiles<T> tiles(number, task.grid);
  shared.make_table();
  T points[lane_points];
  Extremes<T> seen;
  bool certain = true;  // unless extremes decide
  if (tiles.has_tile()) {
    load_values<vector>(task.map, task.values, task.map[tiles.tile()], tiles.lane, points);
    if (seeks) {
      seen.take(points);
      certain = __all_sync(whole_warp, seen.magnitude() <= task.certain_magnitude) != 0;
    }
  }
  code_chunk<vector, Numbers, seeks>(task, tiles, points, seen, certain, 0, shared);
}

/// One chunk per thread block, one tile per warp.
template <class T, class Shape, bool vector>
__global__ void __launch_bounds__(TilesPolicy<T>::threads, TilesPolicy<T>::encode_blocks)
    encode_chunks_of_words(const __grid_constant__ TileTask<T, Shape, WordPoints> task) {
  __shared__ ChunkMemory<T> shared;
  const ChunkOfTiles<T> tiles(blockIdx.x, task.grid);
  shared.make_table();
  T bits[lane_points];
  Extremes<T> seen;
  if (tiles.has_tile())
    load_values<vector>(task.map, task.values, task.map[tiles.tile()], tiles.lane, bits);
  code_chunk<vector, WordTile<Shape>, true>(task, tiles, bits, seen, true, 0, shared);
}

/// One chunk per thread block, in pairs if all its tiles' integers fit.
template <class T, class Shape, bool vector>
__global__ void __launch_bounds__(TilesPolicy<T>::threads, TilesPolicy<T>::encode_blocks)
    encode_chunks_of_logs(const __grid_constant__ TileTask<T, Shape, LoggedPoints<T>> task) {
  __shared__ ChunkMemory<T> shared;
  const ChunkOfTiles<T> tiles(blockIdx.x, task.grid);
  shared.make_table();
  T points[lane_points];
  Extremes<T> seen;
  std::uint32_t negative = 0;
  bool certain = true;
  bool is_narrow = true;
  if (tiles.has_tile()) {
    const auto tile = task.map[tiles.tile()];
    load_values<vector>(task.map, task.values, tile, tiles.lane, points);
    Extremes<T> own;
    own.take(points);
    if (!(own.magnitude() <= std::numeric_limits<T>::max())) task.totals->strange = 1;
    own.merge_warp();
    if (tiles.lane == 0) shared.own[tiles.warp] = own;
    negative = negative_points(points);
#pragma unroll
    for (T& point : points) point = task.points.seen_quickly(point);
    seen.take(points);
    seen.merge_warp();
    certain = task.points.transform.is_certain(seen.min) &&
              task.points.transform.is_certain(seen.max) &&
              seen.magnitude() <= task.certain_magnitude;
    const std::uint32_t range =
        task.quantizer.integer_of(seen.max) - task.quantizer.integer_of(seen.min);
    is_narrow = certain && range <= narrow_reach;
    if (!certain) {
      load_values<vector>(task.map, task.values, tile, tiles.lane, points);
#pragma unroll
      for (T& point : points) point = task.points.seen(point);
      seen.take_numbers(points);
      seen.merge_warp();
    }
  }
  if (__syncthreads_and(is_narrow) != 0) {
    code_chunk<vector, NarrowTile<Shape>, true>(task, tiles, points, seen, certain, negative,
                                                shared);
  } else {
    code_chunk<vector, WideTile<Shape>, true>(task, tiles, points, seen, certain, negative, shared);
  }
}

}  // namespace cuszi::gpu
