#include "gpu/bytes.cuh"
#include "gpu/tile_warp.cuh"
#include "gpu/tiles.cuh"

namespace cuszi::gpu {

namespace {

/// Everything that the kernel of a frame needs.
template <class T>
struct RestoreTask {
  TileGrid grid;
  TileQuantizer<T> quantizer;
  T min;
  T max;
  const std::byte* index;
  const std::byte* codes;
  std::uint64_t code_words;
  T* values;
  std::uint32_t* flaws;
};

/// Words at any address.
class WordReader {
 public:
  __device__ explicit WordReader(const std::byte* from)
      : words_(reinterpret_cast<const std::uint32_t*>(reinterpret_cast<std::uintptr_t>(from) &
                                                      ~std::uintptr_t{3})),
        shift_(8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3)) {}

  __device__ std::uint32_t operator[](std::uint64_t i) const {
    const std::uint32_t word = words_[i];
    return shift_ == 0 ? word : __funnelshift_r(word, words_[i + 1], shift_);
  }

 private:
  const std::uint32_t* words_;
  unsigned shift_;
};

/// A tile on its way out of its chunk.
template <class T, class Shape, bool vector>
struct TileDecoder {
  const RestoreTask<T>& task;
  TileHead head;
  Extents3 first;  ///< point of the tile
  unsigned lane;
  WarpPoints integers;

  __device__ TileDecoder(const RestoreTask<T>& t, const TileHead& h, std::uint64_t tile)
      : task(t), head(h), first(t.grid.first(tile)), lane(threadIdx.x % 32) {}

  /// False if the tile does not fill its bytes.
  __device__ bool restore(const std::uint32_t* words, const std::uint8_t* bytes) {
    const LaneRows<Shape> at(task.grid.extents, first, lane);
    if (head.raw) {
      store_raw(at, words);
      return head.bytes == 0;
    }
    const std::uint32_t* const lanes = words + 2 * head.dense * tile_lanes;
    std::uint32_t used = head.base_bytes;
    for (std::uint32_t pair = 0; pair < head.pairs - head.dense; ++pair)
      used += static_cast<unsigned>(__popc(lanes[pair]));
    if (used > head.bytes) return false;
    const WarpScan data = scan_warp(data_bytes(lanes, bytes), lane);
    const std::uint32_t data_begin = used + data.before;
    used += data.all;
    if (used > head.bytes) return false;
    read_integers(words, lanes, bytes, bytes + data_begin);
    sum_up();
    store(at, base_of(bytes));
    if (!head.patched) return used == head.bytes;
    __syncwarp();
    return put_patches(bytes + used, head.bytes - used);
  }

 private:
  __device__ std::uint32_t base_of(const std::uint8_t* bytes) const {
    std::uint32_t base = 0;
    for (unsigned i = 0; i < head.base_bytes; ++i) base |= std::uint32_t{bytes[i]} << (8 * i);
    return unzigzag32(base);
  }

  /// Of this lane.
  __device__ std::uint32_t data_bytes(const std::uint32_t* lanes, const std::uint8_t* bytes) const {
    std::uint32_t count = 0;
    const std::uint8_t* flags = bytes + head.base_bytes;
    for (std::uint32_t pair = 0; pair < head.pairs - head.dense; ++pair) {
      count += static_cast<unsigned>(__popc(flags_at(lanes[pair], flags)));
      flags += __popc(lanes[pair]);
    }
    return count;
  }

  /// Which bytes of a pair are not zero, given the lanes that have any.
  __device__ std::uint32_t flags_at(std::uint32_t lanes, const std::uint8_t* flags) const {
    return ((lanes >> lane) & 1) != 0 ? flags[__popc(lanes & lanes_below(lane))] : 0;
  }

  __device__ void read_integers(const std::uint32_t* words, const std::uint32_t* lanes,
                                const std::uint8_t* bytes, const std::uint8_t* data) {
    const std::uint8_t* flags = bytes + head.base_bytes;
#pragma unroll
    for (std::uint32_t& integer : integers) integer = 0;
    for (unsigned slice = 0; 4 * slice < head.pairs; ++slice) {
      std::uint32_t first[4] = {};
      std::uint32_t second[4] = {};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t pair = 4 * slice + i;
        if (pair >= head.pairs) break;
        if (pair < head.dense) {
          first[i] = words[2 * pair * tile_lanes + lane];
          second[i] = words[(2 * pair + 1) * tile_lanes + lane];
          continue;
        }
        const std::uint32_t having = lanes[pair - head.dense];
        const std::uint32_t present = flags_at(having, flags);
        flags += __popc(having);
#pragma unroll
        for (unsigned byte = 0; byte < 8; ++byte) {
          if (((present >> byte) & 1) == 0) continue;
          (byte < 4 ? first[i] : second[i]) |= std::uint32_t{*data++} << (8 * (byte % 4));
        }
      }
      add_slice(slice, first, second);
    }
  }

  /// Turns eight planes of each group into byte number `slice` of the integers.
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

  __device__ void sum_up() {
#pragma unroll
    for (std::uint32_t& integer : integers) integer = unzigzag32(integer);
    if constexpr (Shape::extents[0] > 1) {
      if ((head.axes & 4) != 0) sum<Shape, 0>(integers, lane);
    }
    if constexpr (Shape::extents[1] > 1) {
      if ((head.axes & 2) != 0) sum<Shape, 1>(integers, lane);
    }
    if ((head.axes & 1) != 0) sum<Shape, 2>(integers, lane);
  }

  __device__ void store(const LaneRows<Shape>& at, std::uint32_t base) const {
    store_values(at, [&](int point) {
      return clamp_restored(task.quantizer.restored(integers[point] + base), task.min, task.max);
    });
  }

  __device__ void store_raw(const LaneRows<Shape>& at, const std::uint32_t* words) const {
    store_values(at, [&](int point) {
      const std::uint32_t* const from =
          words + (static_cast<unsigned>(point) * tile_lanes + lane) * (sizeof(T) / 4);
      BitsOf<T> bits = from[0];
      if constexpr (sizeof(T) == 8) bits |= static_cast<BitsOf<T>>(from[1]) << 32;
      return std::bit_cast<T>(bits);
    });
  }

  template <class ValueAt>
  __device__ void store_values(const LaneRows<Shape>& at, const ValueAt& value_at) const {
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
      T* const to = task.values + at.start(point) + at.x() + Shape::point_along(point, 2);
      if constexpr (vector) {
        FourValues<T> four;
#pragma unroll
        for (int i = 0; i < 4; ++i) four.value[i] = value_at(point + i);
        if (at.is_inside(point)) *reinterpret_cast<FourValues<T>*>(to) = four;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (at.is_inside(point + i)) to[i] = value_at(point + i);
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

  /// False if the point is outside the field.
  __device__ bool patch(std::uint32_t position, std::uint64_t bits) const {
    const TileGrid::Place place = task.grid.template place_of<Shape>(
        first, static_cast<int>(position / lane_points), static_cast<int>(position % lane_points));
    if (!place.inside) return false;
    task.values[place.index] = std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
    return true;
  }
};

/// A chunk per thread block, a tile per warp.
template <class T, class Shape, bool vector>
__global__ void __launch_bounds__(32 * chunk_tiles<T>, 4)
    decode_chunks(const __grid_constant__ RestoreTask<T> task) {
  constexpr unsigned tiles = chunk_tiles<T>;
  __shared__ std::uint32_t chunk[max_chunk_words<T>];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * tiles;
  const std::uint64_t left = task.grid.count - first;
  const auto here = static_cast<unsigned>(left < tiles ? left : tiles);
  const WordReader index(task.index);
  const std::uint64_t begin = index[blockIdx.x];
  const std::uint64_t end =
      blockIdx.x + 1 < task.grid.chunks ? index[blockIdx.x + 1] : task.code_words;
  const bool bounded = begin <= end && end <= task.code_words &&
                       end - begin <= max_chunk_words<T> && end - begin >= here &&
                       (blockIdx.x != 0 || begin == 0);
  if (!bounded) {
    if (threadIdx.x == 0) atomicOr(task.flaws, static_cast<unsigned>(bad_tiles));
    return;
  }
  const auto words = static_cast<std::uint32_t>(end - begin);
  const WordReader codes(task.codes + 4 * begin);
  for (std::uint32_t i = threadIdx.x; i < words; i += 32 * tiles) chunk[i] = codes[i];
  __syncthreads();
  if (warp >= here) return;
  const bool valid = __all_sync(whole_warp, lane >= here || TileHead::from(chunk[lane]).is_valid());
  const TilePlace place = place_of<T>(chunk, here, warp, lane);
  bool whole = valid && (place.chunk_bytes + 3) / 4 == words;
  if (whole) {
    TileDecoder<T, Shape, vector> tile(task, TileHead::from(chunk[warp]), first + warp);
    whole =
        tile.restore(chunk + place.word, reinterpret_cast<const std::uint8_t*>(chunk) + place.byte);
  }
  if (!whole && lane == 0) atomicOr(task.flaws, static_cast<unsigned>(bad_tiles));
}

}  // namespace

template <class T>
void decode_values(Work& work, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame) {
  const Bytes index = sections.at(SectionId::index);
  const Bytes codes = sections.at(SectionId::codes);
  with_tile_shape(frame.extents, [&](auto shape) {
    using Shape = decltype(shape);
    const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
    if (index.size() != 4 * grid.chunks || codes.size() % 4 != 0) {
      throw ArchiveError("the tiles of a frame do not fit their chunks");
    }
    const RestoreTask<T> task{grid,
                              TileQuantizer<T>(params.half_step),
                              static_cast<T>(frame.min),
                              static_cast<T>(frame.max),
                              index.data(),
                              codes.data(),
                              codes.size() / 4,
                              frame.values,
                              work.flaws()};
    const bool vector =
        frame.extents[2] % 4 == 0 &&
        reinterpret_cast<std::uintptr_t>(frame.values) % alignof(FourValues<T>) == 0;
    const unsigned blocks = grid_of(grid.chunks);
    constexpr unsigned threads = 32 * chunk_tiles<T>;
    if (vector)
      decode_chunks<T, Shape, true><<<blocks, threads, 0, work.stream()>>>(task);
    else
      decode_chunks<T, Shape, false><<<blocks, threads, 0, work.stream()>>>(task);
    check_launch("decode_chunks");
  });
}

template void decode_values(Work&, const TilesParams&, const Sections&, const FrameOutput<float>&);
template void decode_values(Work&, const TilesParams&, const Sections&, const FrameOutput<double>&);

}  // namespace cuszi::gpu
