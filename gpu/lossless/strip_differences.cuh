#pragma once

#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

// Differences of a frame of bound 0 in the registers of warps.

/// A warp predicts a slab of eight blocks side by side at once, a lane 16 successive points of a
/// block: some rows. Slabs follow one another along the slowest axis.
template <int rank>
struct SlabShape;
template <>
struct SlabShape<1> {
  static constexpr int z = 1, y = 1, x = 512;
  static constexpr int block_z = 1, block_y = 1, block_x = 64;
  static constexpr int rows = 1, words = 16;  ///< of a lane
  static constexpr int planes = 1;            ///< of a lane, along the slowest axis
};
template <>
struct SlabShape<2> {
  static constexpr int z = 1, y = 8, x = 64;
  static constexpr int block_z = 1, block_y = 8, block_x = 8;
  static constexpr int rows = 2, words = 8;
  static constexpr int planes = 2;
};
template <>
struct SlabShape<3> {
  static constexpr int z = 4, y = 4, x = 32;
  static constexpr int block_z = 4, block_y = 4, block_x = 4;
  static constexpr int rows = 4, words = 4;
  static constexpr int planes = 1;
};
inline constexpr int slabs_of_strip = 6;

template <class Word>
struct PredictPolicy {
  static constexpr unsigned warps = 32 / sizeof(Word);
  static constexpr unsigned threads = 32 * warps;
};

template <class Word>
struct PredictTask {
  const Word* bits;
  bool by_parts;  ///< rows are aligned to 16 bytes
  WordMap<Word> map;
  Word zero;                        ///< the bits whose word is 0
  Word factors[3][most_order + 1];  ///< of neighbours at distance 0, 1, 2 along an axis
  DeviceGrid grid;
  std::uint32_t strips_along[3];  ///< in a chunk
  std::uint32_t strips;           ///< of all chunks
  TokenBlocks blocks;
  DeviceCounts* counts;
  BitExtremes<Word>* extremes;
};

/// Which part of which block of a slab a lane has.
template <int rank>
struct PartOfLane : LanesOfBlock<rank == 1 ? 1 : 8> {
  static constexpr int lanes_along_x = rank == 1 ? 32 : 8;

  __device__ bool is_first_of_row() const { return threadIdx.x % lanes_along_x == 0; }
};

struct PointAt {
  int z;
  int y;
  int x;
};

/// A slab in its chunk.
template <int rank>
struct SlabAt {
  using Shape = SlabShape<rank>;

  WordChunk chunk;
  int first[3];

  /// The first slab of a strip.
  template <class Task>
  __device__ static SlabAt of(const Task& task, std::uint32_t number) {
    const std::uint32_t width = task.strips_along[2];
    const std::uint32_t height = task.strips_along[1];
    const std::uint32_t in_chunk = task.strips_along[0] * height * width;
    const std::uint32_t own = number % in_chunk;
    SlabAt slab{task.grid.chunks[number / in_chunk],
                {static_cast<int>(own / width / height) * Shape::z,
                 static_cast<int>(own / width % height) * Shape::y,
                 static_cast<int>(own % width) * Shape::x}};
    slab.first[3 - rank] *= slabs_of_strip;
    return slab;
  }
  __device__ void advance(int slabs) {
    constexpr int size[] = {Shape::z, Shape::y, Shape::x};
    first[3 - rank] += slabs * size[3 - rank];
  }
  __device__ PointAt of_lane() const {
    const PartOfLane<rank> own;
    const auto part = static_cast<int>(own.part);
    const int x = first[2] + static_cast<int>(own.block) * Shape::block_x;
    if constexpr (rank == 1) return {0, 0, x + part * Shape::words};
    if constexpr (rank == 2) return {0, first[1] + part * Shape::rows, x};
    return {first[0] + part, first[1], x};
  }
  __device__ int size(int axis) const { return static_cast<int>(chunk.size[axis]); }
  /// Also of points before the chunk.
  __device__ bool has(int at, int axis) const {
    return static_cast<std::uint32_t>(at) < chunk.size[axis];
  }
  __device__ bool exists() const {
    return has(first[0], 0) && has(first[1], 1) && has(first[2], 2);
  }
};

/// Calls f(map) with an order that is known when f is compiled.
template <class Word, class F>
__device__ void with_known_order(WordMap<Word> map, const F& f) {
  if (map.order == WordOrder::by_value) {
    map.order = WordOrder::by_value;
    f(map);
  } else if (map.order == WordOrder::sign_last) {
    map.order = WordOrder::sign_last;
    f(map);
  } else if (map.order == WordOrder::multiples) {
    map.order = WordOrder::multiples;
    f(map);
  } else {
    map.order = WordOrder::integers;
    f(map);
  }
}

/// The differences of a strip, a slab after the other, by a warp: as core's take_differences().
template <class Word, int rank, int reach>
class StripDifferences {
  using Shape = SlabShape<rank>;
  /// Parts of a slab that the next one needs.
  static constexpr int kept_parts = rank == 1 ? 0 : (reach + Shape::planes - 1) / Shape::planes;
  static constexpr int points = points_of_lane;

 public:
  struct Shared {
    Word kept[kept_parts == 0 ? 1 : kept_parts][points][blocks_of_warp];
  };

  /// Adds the values that it sees to `seen`.
  __device__ StripDifferences(const PredictTask<Word>& task, Shared& shared, SlabAt<rank> first,
                              BitExtremes<Word>& seen)
      : task_(task), shared_(shared), seen_(seen) {
    if constexpr (rank > 1) {
      first.advance(-1);
      Word words[points];
      take_in_plane(first, own_.part >= lanes_of_block - kept_parts, words);
      keep(words);
    }
  }

  /// The differences of a lane's points.
  __device__ void take(const SlabAt<rank>& slab, Word (&differences)[points]) {
    if constexpr (rank == 1) {
      take_in_plane(slab, true, differences);
    } else {
      Word words[points];
      take_in_plane(slab, true, words);
      CUSZI_UNROLL
      for (int i = 0; i < points; ++i) {
        differences[i] = words[i];
        CUSZI_UNROLL
        for (int distance = 1; distance <= reach; ++distance)
          differences[i] += task_.factors[3 - rank][distance] * before(words, i, distance);
      }
      __syncwarp();
      keep(words);
    }
  }

 private:
  static constexpr int rows_before = rank == 3 ? reach : 0;
  static constexpr int all_rows = Shape::rows + rows_before;
  static constexpr int row_words = reach + Shape::words;  ///< neighbours before it, too
  using Row = Word[row_words];

  /// The word a distance before one along the slowest axis.
  __device__ Word before(const Word (&words)[points], int i, int distance) const {
    constexpr int plane = points / Shape::planes;
    const int at = i - distance * plane;
    if (at >= 0) return words[at];
    const int lower = (points - 1 - at) / points;  // parts
    const Word here =
        __shfl_up_sync(~0U, words[at + lower * points], static_cast<unsigned>(lower) * own_.step);
    const auto part = static_cast<int>(own_.part);
    return part >= lower ? here
                         : shared_.kept[part - lower + kept_parts][at + lower * points][own_.block];
  }
  __device__ void keep(const Word (&words)[points]) {
    if (own_.part >= lanes_of_block - kept_parts) {
      CUSZI_UNROLL
      for (int i = 0; i < points; ++i)
        shared_.kept[own_.part - (lanes_of_block - kept_parts)][i][own_.block] = words[i];
    }
    __syncwarp();
  }

  /// Differences along x, and in cubes along y.
  __device__ void take_in_plane(const SlabAt<rank>& slab, bool is_needed,
                                Word (&differences)[points]) const {
    Row rows[all_rows];
    load(slab, is_needed, rows);
    CUSZI_UNROLL
    for (int i = 0; i < points; ++i)
      seen_.take(rows[i / Shape::words + rows_before][i % Shape::words + reach]);
    with_known_order(task_.map, [&](const WordMap<Word>& map) {
      CUSZI_UNROLL
      for (int i = 0; i < all_rows * row_words; ++i) {
        Word& word = rows[i / row_words][i % row_words];
        word = map.word_of(word);
      }
    });
    CUSZI_UNROLL
    for (int number = 0; number < all_rows; ++number) {
      Row& row = rows[number];
      CUSZI_UNROLL
      for (int i = 0; i < reach; ++i) {
        const Word inside = __shfl_up_sync(~0U, row[Shape::words + i], 1);
        if (!own_.is_first_of_row()) row[i] = inside;
      }
      CUSZI_UNROLL
      for (int i = row_words - 1; i >= reach; --i) {
        CUSZI_UNROLL
        for (int distance = 1; distance <= reach; ++distance)
          row[i] += task_.factors[2][distance] * row[i - distance];
      }
    }
    CUSZI_UNROLL
    for (int i = 0; i < points; ++i) {
      const int row = i / Shape::words + rows_before;
      const int x = i % Shape::words + reach;
      differences[i] = rows[row][x];
      CUSZI_UNROLL
      for (int distance = 1; distance <= rows_before; ++distance)
        differences[i] += task_.factors[1][distance] * rows[row - distance][x];
    }
  }

  /// The bits of a lane's rows; of neighbours only in the first lane of a row.
  __device__ void load(const SlabAt<rank>& slab, bool is_needed, Row (&rows)[all_rows]) const {
    CUSZI_UNROLL
    for (int i = 0; i < all_rows * row_words; ++i) rows[i / row_words][i % row_words] = task_.zero;
    const PointAt at = slab.of_lane();
    if (!is_needed || !slab.has(at.z, 0)) return;
    const Word* const first =
        task_.bits + slab.chunk.first_point + static_cast<std::int64_t>(task_.grid.plane) * at.z +
        static_cast<std::int64_t>(task_.grid.row) * (at.y - rows_before) + at.x;
    const auto for_each_row = [&](const auto& f) {
      CUSZI_UNROLL
      for (int i = 0; i < all_rows; ++i)
        if (slab.has(at.y + i - rows_before, 1))
          f(rows[i], first + static_cast<unsigned>(i) * task_.grid.row);
    };
    const int existing = slab.size(2) - at.x;
    if (task_.by_parts && existing >= Shape::words) {
      constexpr int words_of_part = sizeof(uint4) / sizeof(Word);
      for_each_row([&](Row& row, const Word* from) {
        CUSZI_UNROLL
        for (int i = 0; i < Shape::words; i += words_of_part) {
          const uint4 part = __ldg(reinterpret_cast<const uint4*>(from + i));
          const std::uint32_t four[] = {part.x, part.y, part.z, part.w};
          CUSZI_UNROLL
          for (int k = 0; k < words_of_part; ++k) {
            if constexpr (sizeof(Word) == 4)
              row[reach + i + k] = four[k];
            else
              row[reach + i + k] = four[2 * k] | std::uint64_t{four[2 * k + 1]} << 32;
          }
        }
      });
    } else {
      for_each_row([&](Row& row, const Word* from) {
        CUSZI_UNROLL
        for (int i = 0; i < Shape::words; ++i)
          if (i < existing) row[reach + i] = __ldg(from + i);
      });
    }
    if (!own_.is_first_of_row()) return;
    for_each_row([&](Row& row, const Word* from) {
      CUSZI_UNROLL
      for (int i = 0; i < reach; ++i)
        if (at.x >= reach - i) row[i] = __ldg(from - (reach - i));
    });
  }

  const PredictTask<Word>& task_;
  Shared& shared_;
  BitExtremes<Word>& seen_;
  PartOfLane<rank> own_;
};

}  // namespace cuszi::gpu
