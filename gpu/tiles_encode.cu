#include <algorithm>

#include "gpu/bytes.cuh"
#include "gpu/tile_warp.cuh"
#include "gpu/tiles.cuh"

namespace cuszi::gpu {

namespace {

/// Everything that the kernel of a frame needs.
template <class T>
struct TileTask {
  TileGrid grid;
  const T* values;
  RankedBits missing;  ///< no words if no point is missing
  TileQuantizer<T> quantizer;
  MissingTest<T> fills;  ///< that a restored value could be
  std::uint32_t* index;
  std::uint32_t* codes;
  std::uint64_t room_words;
  std::uint64_t* states;  ///< of the chunks, see ChunkOffsets
  struct Totals {
    std::uint64_t words;  ///< of the codes; beyond the room for them they are not there
    std::uint64_t patches;
  };
  Totals* totals;
};

/// Where chunks begin, found by looking back at those before (Merrill and Garland 2016): each says
/// its size as soon as it knows it, and the end of all up to it as soon as it knows that.
class ChunkOffsets {
 public:
  __device__ ChunkOffsets(std::uint64_t* states, std::uint64_t chunk)
      : states_(states), chunk_(chunk) {}

  /// By one thread.
  __device__ void say_size(std::uint64_t words) const {
    publish(words | (chunk_ == 0 ? is_end : is_size));
  }

  /// By one warp; every lane gets the words before the chunk.
  __device__ std::uint64_t find(std::uint64_t words, unsigned lane) const {
    std::uint64_t before = 0;
    for (std::int64_t last = static_cast<std::int64_t>(chunk_) - 1; last >= 0; last -= 32) {
      const std::int64_t one = last - lane;
      std::uint64_t state = one >= 0 ? read(one) : is_end;
      while (__any_sync(whole_warp, (state & flags) == 0)) {
        if ((state & flags) == 0) state = read(one);
      }
      const std::uint32_t ends = __ballot_sync(whole_warp, (state & is_end) != 0);
      const unsigned first_end =
          ends == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(ends))) - 1;
      std::uint64_t sum = lane <= first_end ? state & ~flags : 0;
#pragma unroll
      for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(whole_warp, sum, static_cast<int>(distance));
      before += sum;
      if (ends != 0) break;
    }
    if (lane == 0 && chunk_ != 0) publish((before + words) | is_end);
    return before;
  }

 private:
  static constexpr std::uint64_t is_size = std::uint64_t{1} << 62;
  static constexpr std::uint64_t is_end = std::uint64_t{1} << 63;
  static constexpr std::uint64_t flags = is_size | is_end;

  __device__ void publish(std::uint64_t state) const {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(states_ + chunk_), "l"(state) : "memory");
  }
  __device__ std::uint64_t read(std::int64_t chunk) const {
    std::uint64_t state;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(state) : "l"(states_ + chunk) : "memory");
    return state;
  }

  std::uint64_t* states_;
  std::uint64_t chunk_;
};

/// The union of the zigzags of each group: which of its planes' bytes are not zero.
template <class Shape>
__device__ void unite_groups(const WarpPoints& integers, std::uint32_t (&unions)[4]) {
#pragma unroll
  for (int group = 0; group < 4; ++group) {
    ZigzagUnion all;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) all.add(integers[Shape::point_of(group, bit)]);
    unions[group] = all.get();
  }
}

/// A tile on its way to its chunk.
template <class T, class Shape, bool vector>
struct TileEncoder {
  const TileTask<T>& task;
  unsigned lane;
  WarpPoints integers;  ///< then differences, then their zigzags
  std::uint32_t unions[4];
  std::uint32_t base;
  std::uint32_t absent = 0;
  std::uint32_t patched = 0;
  std::uint32_t patches = 0;  ///< of all lanes
  TileHead head;

  __device__ explicit TileEncoder(const TileTask<T>& t) : task(t), lane(threadIdx.x % 32) {}

  /// Reads a row's four values from x on; beyond the end the last one is repeated.
  __device__ static void load_four(const T* row, std::uint64_t x, std::int64_t left, T (&four)[4]) {
    if constexpr (vector) {
      const auto* from =
          reinterpret_cast<const FourValues<T>*>(row + (left > 0 ? x : x + left - 4));
      const FourValues<T> loaded = *from;
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = left > 0 ? loaded.value[i] : loaded.value[3];
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t step = i < left ? i : left - 1;
        four[i] = row[static_cast<std::int64_t>(x) + step];
      }
    }
  }

  /// Makes integers of the values, relative to that of the tile's first point.
  __device__ void quantise(std::uint64_t tile) {
    const Extents3 first = task.grid.first(tile);
    const LaneRows<Shape> at(task.grid.extents, first, lane);
    bool doubtful = task.missing.words != nullptr;
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
      T four[4];
      const int x = Shape::point_along(point, 2);
      load_four(task.values + at.start(point), at.x() + static_cast<unsigned>(x), at.left() - x,
                four);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto result = task.quantizer(four[i]);
        integers[point + i] = result.integer;
        doubtful |= !result.certain;
      }
    }
    if (__any_sync(whole_warp, doubtful)) look_closer(first);
    base = __shfl_sync(whole_warp, integers[0], 0);
#pragma unroll
    for (std::uint32_t& integer : integers) integer -= base;
  }

  __device__ TileGrid::Place place_of(const Extents3& first, unsigned point) const {
    return task.grid.template place_of<Shape>(first, static_cast<int>(lane),
                                              static_cast<int>(point));
  }

  /// Where some values are missing or not certain to come back within the bound: reads them again.
  __device__ void look_closer(const Extents3& first) {
#pragma unroll 1
    for (unsigned point = 0; point < lane_points; ++point) {
      const TileGrid::Place place = place_of(first, point);
      const std::uint32_t bit = 1U << point;
      if (task.missing.words != nullptr && task.missing.test(place.index)) {
        absent |= bit;
        continue;
      }
      const T value = task.values[place.index];
      const auto result = task.quantizer(value);
      if (!result.in_range && !result.certain) absent |= bit;
      const bool kept = result.certain ||
                        (result.in_range && task.quantizer.fits(value, result.integer, task.fills));
      if (!kept && place.inside) patched |= bit;
    }
    if (__any_sync(whole_warp, absent != 0)) fill();
    patches = __reduce_add_sync(whole_warp, static_cast<unsigned>(__popc(patched)));
    if (lane == 0 && patches != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&task.totals->patches), patches);
    }
  }

  __device__ void fill() {
    std::uint32_t first = integers[0];
#pragma unroll
    for (unsigned point = lane_points; point-- > 0;)
      if (((absent >> point) & 1) == 0) first = integers[point];
    const std::uint32_t present = __ballot_sync(whole_warp, ~absent != 0);
    const std::uint32_t other =
        __shfl_sync(whole_warp, first, present == 0 ? 0 : __ffs(static_cast<int>(present)) - 1);
    fill_absent(integers, absent, present == 0 ? 0 : other);
  }

  /// The axes whose differences leave the fewest bytes; integers become these differences.
  __device__ void choose_axes() {
    std::uint32_t best = ~0U;
    const auto attempt = [&](std::uint32_t candidate) {
      std::uint32_t here[4];
      unite_groups<Shape>(integers, here);
      const std::uint32_t ones =
          __reduce_add_sync(whole_warp, static_cast<unsigned>(__popc(here[0]) + __popc(here[1]) +
                                                              __popc(here[2]) + __popc(here[3])));
      if (ones > best) return;
      best = ones;
      head.axes = candidate;
#pragma unroll
      for (int group = 0; group < 4; ++group) unions[group] = here[group];
    };
    if constexpr (Shape::extents[0] == 1) attempt(0);
    difference<Shape, 2>(integers, lane);
    attempt(1);
    if constexpr (Shape::extents[1] > 1) {
      difference<Shape, 1>(integers, lane);
      attempt(3);
    }
    if constexpr (Shape::extents[0] > 1) {
      difference<Shape, 0>(integers, lane);
      attempt(7);
      if (head.axes < 4) sum<Shape, 0>(integers, lane);
    }
    if constexpr (Shape::extents[1] > 1) {
      if (head.axes < 2) sum<Shape, 1>(integers, lane);
    }
    if constexpr (Shape::extents[0] == 1) {
      if (head.axes < 1) sum<Shape, 2>(integers, lane);
    }
#pragma unroll
    for (std::uint32_t& integer : integers) integer = zigzag32(integer);
  }

  /// Bytes of this lane in pairs of planes that do not stand whole.
  __device__ std::uint32_t lane_bytes() const {
    if (head.dense == TileHead::max_pairs) return 0;
    std::uint32_t bytes = 0;
#pragma unroll
    for (int group = 0; group < 4; ++group)
      bytes += static_cast<unsigned>(__popc(unions[group] >> (2 * head.dense)));
    return bytes;
  }

  /// Decides how the tile is written; returns where this lane's bytes begin behind all flags.
  __device__ std::uint32_t make_head() {
    head.pairs =
        pairs_of(__reduce_or_sync(whole_warp, unions[0] | unions[1] | unions[2] | unions[3]));
    for (; head.dense < head.pairs; ++head.dense) {
      const std::uint32_t flags = flags_of_pair(unions, head.dense);
      const std::uint32_t bytes = __reduce_add_sync(
          whole_warp, static_cast<unsigned>(__popc(flags)) + (flags != 0 ? 1U : 0U));
      if (sparse_pair_bytes + bytes < dense_pair_bytes) break;
    }
    head.base_bytes = base_bytes_of(zigzag32(base));
    head.patched = patches != 0;
    std::uint32_t flag_bytes = 0;
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair)
      flag_bytes += static_cast<unsigned>(
          __popc(__ballot_sync(whole_warp, flags_of_pair(unions, pair) != 0)));
    const WarpScan scan = scan_warp(lane_bytes(), lane);
    const std::uint32_t bytes = head.base_bytes + flag_bytes + scan.all + patch_bytes<T>(patches);
    if (4 * head.words(0) + bytes >= tile_points * sizeof(T)) {
      head = TileHead{};
      head.raw = true;
    } else {
      head.bytes = bytes;
    }
    return flag_bytes + scan.before;
  }

  __device__ void write(std::uint64_t tile, std::uint32_t* words, std::uint8_t* bytes,
                        std::uint32_t lane_begin) const {
    if (head.raw) return write_raw(tile, words);
    if (lane < head.base_bytes)
      bytes[lane] = static_cast<std::uint8_t>(zigzag32(base) >> (8 * lane));
    bytes += head.base_bytes;
    std::uint8_t* data = bytes + lane_begin;
    for (unsigned slice = 0; 4 * slice < head.pairs; ++slice) {
      std::uint32_t low[4];
      std::uint32_t high[4];
      make_planes(slice, low, high);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t pair = 4 * slice + i;
        if (pair >= head.pairs) break;
        const std::uint32_t(&half)[4] = i < 2 ? low : high;
        const unsigned select = i % 2 == 0 ? 0x5410 : 0x7632;
        const std::uint32_t first = __byte_perm(half[0], half[1], select);
        const std::uint32_t second = __byte_perm(half[2], half[3], select);
        if (pair < head.dense) {
          words[2 * pair * tile_lanes + lane] = first;
          words[(2 * pair + 1) * tile_lanes + lane] = second;
          continue;
        }
        const std::uint32_t flags = flags_of_pair(unions, pair);
        const std::uint32_t lanes = __ballot_sync(whole_warp, flags != 0);
        if (lane == 0) words[2 * head.dense * tile_lanes + pair - head.dense] = lanes;
        if (flags != 0) bytes[__popc(lanes & lanes_below(lane))] = static_cast<std::uint8_t>(flags);
        bytes += __popc(lanes);
#pragma unroll
        for (unsigned byte = 0; byte < 8; ++byte) {
          if (((flags >> byte) & 1) == 0) continue;
          *data++ = static_cast<std::uint8_t>((byte < 4 ? first : second) >> (8 * (byte % 4)));
        }
      }
    }
    if (head.patched) {
      const auto end = reinterpret_cast<std::uintptr_t>(data);  // that of the last lane is of all
      write_patches(tile, reinterpret_cast<std::uint8_t*>(__shfl_sync(whole_warp, end, 31)));
    }
  }

  /// Bytes of eight planes of each group, from the integers' byte number `slice`.
  __device__ void make_planes(unsigned slice, std::uint32_t (&low)[4],
                              std::uint32_t (&high)[4]) const {
    const unsigned select = slice | (slice + 4) << 4;
    const auto pack = [&](int group, int bit) {
      const auto at = [&](int i) { return integers[Shape::point_of(group, bit + i)]; };
      return __byte_perm(__byte_perm(at(0), at(1), select), __byte_perm(at(2), at(3), select),
                         0x5410);
    };
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      low[group] = pack(group, 0);
      high[group] = pack(group, 4);
      transpose_bits(low[group], high[group]);
    }
  }

  __device__ void write_patches(std::uint64_t tile, std::uint8_t* to) const {
    const Extents3 first = task.grid.first(tile);
    if (lane == 0) put_bytes(reinterpret_cast<std::byte*>(to), patches, 2);
    std::uint32_t rank = scan_warp(static_cast<unsigned>(__popc(patched)), lane).before;
    for (std::uint32_t left = patched; left != 0; left &= left - 1, ++rank) {
      const auto point = static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
      const T value = task.values[place_of(first, point).index];
      auto* const positions = reinterpret_cast<std::byte*>(to) + 2;
      put_bytes(positions + 2 * rank, lane * lane_points + point, 2);
      put_bytes(positions + 2 * patches + sizeof(T) * rank, std::bit_cast<BitsOf<T>>(value),
                sizeof(T));
    }
  }

  __device__ void write_raw(std::uint64_t tile, std::uint32_t* words) const {
    const Extents3 first = task.grid.first(tile);
#pragma unroll 1
    for (unsigned point = 0; point < lane_points; ++point) {
      const auto bits = std::bit_cast<BitsOf<T>>(task.values[place_of(first, point).index]);
      std::uint32_t* const to = words + (point * tile_lanes + lane) * (sizeof(T) / 4);
      to[0] = static_cast<std::uint32_t>(bits);
      if constexpr (sizeof(T) == 8) to[1] = static_cast<std::uint32_t>(bits >> 32);
    }
  }
};

/// A chunk per thread block, a tile per warp.
template <class T, class Shape, bool vector>
__global__ void __launch_bounds__(32 * chunk_tiles<T>, 4)
    encode_chunks(const __grid_constant__ TileTask<T> task) {
  constexpr unsigned tiles = chunk_tiles<T>;
  __shared__ std::uint32_t chunk[max_chunk_words<T>];
  __shared__ std::uint64_t begin;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * tiles;
  const std::uint64_t left = task.grid.count - first;
  const auto here = static_cast<unsigned>(left < tiles ? left : tiles);
  const bool active = warp < here;

  TileEncoder<T, Shape, vector> tile(task);
  std::uint32_t lane_begin = 0;
  if (active) {
    tile.quantise(first + warp);
    tile.choose_axes();
    lane_begin = tile.make_head();
    if (lane == 0) chunk[warp] = tile.head.word();
  }
  __syncthreads();
  const TilePlace place = place_of<T>(chunk, here, warp < here ? warp : 0, lane);
  const std::uint32_t words = (place.chunk_bytes + 3) / 4;
  const ChunkOffsets offsets(task.states, blockIdx.x);
  if (threadIdx.x == 0) offsets.say_size(words);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(chunk);
  if (threadIdx.x < 3 && place.chunk_bytes + threadIdx.x < 4 * words)
    bytes[place.chunk_bytes + threadIdx.x] = 0;
  if (active) tile.write(first + warp, chunk + place.word, bytes + place.byte, lane_begin);
  if (warp == 0) {
    const std::uint64_t before = offsets.find(words, lane);
    if (lane == 0) {
      begin = before;
      task.index[blockIdx.x] = static_cast<std::uint32_t>(before);
      if (first + here == task.grid.count) task.totals->words = before + words;
    }
  }
  __syncthreads();
  if (begin + words > task.room_words) return;
  std::uint32_t* const to = task.codes + begin;
  for (std::uint32_t i = threadIdx.x; i < words; i += 32 * tiles) to[i] = chunk[i];
}

/// The chunks of a frame and where they begin, if there was room for them.
template <class T>
struct CodedTiles {
  std::span<std::uint32_t> index;
  std::uint32_t* codes;
  typename TileTask<T>::Totals totals;
};

/// Codes a frame into at most `room_words` words. Waits.
template <class T, class Shape>
CodedTiles<T> code_tiles(Work& work, const TilesParams& params, double bound,
                         const FrameInput<T>& frame, std::uint64_t room_words) {
  const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
  const TileTask<T> task{grid,
                         frame.values,
                         frame.missing,
                         TileQuantizer<T>(params.half_step, bound, frame.fills),
                         frame.fills,
                         work.take<std::uint32_t>(grid.chunks),
                         work.take<std::uint32_t>(room_words),
                         room_words,
                         work.take_zeroed<std::uint64_t>(grid.chunks),
                         work.take_zeroed<typename TileTask<T>::Totals>(1)};
  const bool vector = frame.extents[2] % 4 == 0 &&
                      reinterpret_cast<std::uintptr_t>(frame.values) % alignof(FourValues<T>) == 0;
  const unsigned blocks = grid_of(grid.chunks);
  constexpr unsigned threads = 32 * chunk_tiles<T>;
  if (vector)
    encode_chunks<T, Shape, true><<<blocks, threads, 0, work.stream()>>>(task);
  else
    encode_chunks<T, Shape, false><<<blocks, threads, 0, work.stream()>>>(task);
  check_launch("encode_chunks");
  const auto* const totals = work.download(task.totals, 1);
  work.sync();
  return {{task.index, grid.chunks}, task.codes, *totals};
}

}  // namespace

/// There is room for a fifth of the values at first: frames that take more are rare, and coded a
/// second time.
template <class T>
SelfCoded encode_values(Work& work, const TilesParams& params, double bound,
                        const FrameInput<T>& frame) {
  return with_tile_shape(frame.extents, [&](auto shape) {
    using Shape = decltype(shape);
    const std::uint64_t room = std::max<std::uint64_t>(
        count_of(frame.extents) * (sizeof(T) / 4) / 5, 2 * max_chunk_words<T>);
    CodedTiles<T> coded = code_tiles<T, Shape>(work, params, bound, frame, room);
    if (coded.totals.words > room) {
      coded = code_tiles<T, Shape>(work, params, bound, frame, coded.totals.words);
    }
    SelfCoded result;
    add_section(SectionId::index, std::as_bytes(coded.index), result.sections);
    add_section(SectionId::codes, std::as_bytes(std::span(coded.codes, coded.totals.words)),
                result.sections);
    result.counts.patches = coded.totals.patches;
    return result;
  });
}

template SelfCoded encode_values(Work&, const TilesParams&, double, const FrameInput<float>&);
template SelfCoded encode_values(Work&, const TilesParams&, double, const FrameInput<double>&);

}  // namespace cuszi::gpu
