#pragma once

#include "core/tiles/tile_words.hpp"
#include "gpu/runtime/extremes.cuh"
#include "gpu/tiles/chunk_offsets.cuh"
#include "gpu/tiles/tiles.cuh"

namespace cuszi::gpu {

/// Values, which are converted from their stored type as they are read.
template <class T, class S = T>
struct ValuePoints {
  using Stored = S;
  static constexpr bool are_logs = false;
  static constexpr bool makes_logs = false;

  __device__ T seen(T value) const { return value; }
  __device__ const S* originals(const S* values) const { return values; }
};

/// Points are logarithms of `values`, NaN where a value is exact.
template <class T>
struct LogPoints {
  using Stored = T;
  static constexpr bool are_logs = true;
  static constexpr bool makes_logs = false;
  const T* values;

  __device__ T seen(T value) const { return value; }
  __device__ const T* originals(const T* /*logs*/) const { return values; }
};

/// Values whose logarithms the kernel makes, NaN where a value is exact.
template <class T>
struct LoggedPoints {
  using Stored = T;
  static constexpr bool are_logs = true;
  static constexpr bool makes_logs = true;
  PointTransform<T, LogTransform> transform;

  /// Not inlined: rare.
  __device__ __noinline__ T seen(T value) const { return transform(value).value; }
  __device__ T seen_quickly(T value) const { return transform.params.forward_normal(value); }
  __device__ const T* originals(const T* values) const { return values; }
};

/// Bits of values, coded without loss.
struct WordPoints {
  static constexpr bool are_logs = false;
  static constexpr bool makes_logs = false;

  template <class T>
  __device__ const T* originals(const T* values) const {
    return values;
  }
};

struct TileTotals {
  std::uint64_t words;  ///< of the codes, which are absent beyond the capacity
  std::uint64_t patches;
  std::uint64_t kept;       ///< patches without a logarithm
  std::uint64_t strange;    ///< whether a value has no integer or logarithm
  SharedExtremes extremes;  ///< of all points, if sought
  SharedExtremes own;       ///< of the values, if logarithms are made
};

template <class T, class Shape, class Points = ValuePoints<T>>
struct TileTask {
  TileGrid grid;
  TileMap<Shape> map;
  const typename Points::Stored* values;
  RankedBits missing;  ///< no words without missing points
  TileQuantizer<T> quantizer;
  RestoreRules<T> rules;
  T certain_magnitude;
  std::uint32_t* index;
  std::uint32_t* codes;
  std::uint64_t room_words;
  std::uint64_t* states;  ///< of chunks; see ChunkOffsets
  TileTotals* totals;
  Points points;
};

template <class T, class Shape>
struct TileTask<T, Shape, WordPoints> {
  TileGrid grid;
  TileMap<Shape> map;
  const T* values;
  TileWordMap words;
  std::uint32_t* index;
  std::uint32_t* codes;
  std::uint64_t room_words;
  std::uint64_t* states;  ///< of chunks; see ChunkOffsets
  TileTotals* totals;     ///< extremes of signed words
  WordPoints points = {};
};

/// Points outside the field repeat its last.
template <bool vector, class Shape, class S, class T>
__device__ void load_values(const TileMap<Shape>& map, const S* field,
                            const typename TileMap<Shape>::Tile& tile, unsigned lane,
                            T (&values)[lane_points]) {
  if constexpr (vector && are_in_line<Shape>) {
    if (map.is_whole(tile)) {
      const S* const from = field + map.first_index(tile, 0);
#pragma unroll
      for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
        T four[4];
        load_four(from + exchanged_place(lane, point), four);
#pragma unroll
        for (int i = 0; i < 4; ++i) values[point + i] = four[i];
      }
      exchange_fours(&values[0], lane);
      exchange_fours(&values[lane_points / 2], lane);
      return;
    }
  }
  const S* const from = field + map.first_index(tile, lane);
  if (map.is_whole(tile)) {
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points); point += 4) {
      const S* const row = from + map.offset_of(point);
      T four[4];
      if constexpr (vector) {
        load_four(row, four);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) four[i] = converted_to<T>(row[i]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) values[point + i] = four[i];
    }
    return;
  }
  const PointsInside inside = map.inside(tile, lane);
#pragma unroll
  for (int point = 0; point < static_cast<int>(lane_points); ++point)
    values[point] = converted_to<T>(from[map.clamped_offset_of(point, inside)]);
}

}  // namespace cuszi::gpu
