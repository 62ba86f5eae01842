#pragma once

#include "gpu/tiles/word_planes.cuh"

namespace cuszi::gpu {

struct WideUnions : UnionsOfPairs<WideUnions> {
  std::uint32_t groups[4];

  __device__ std::uint32_t count() const { return count_from(0); }
  /// Without the lowest `pair` pairs.
  __device__ std::uint32_t count_from(std::uint32_t pair) const {
    if (pair == TileHead::max_pairs) return 0;
    std::uint32_t count = 0;
#pragma unroll
    for (const std::uint32_t group : groups)
      count += static_cast<unsigned>(__popc(group >> (2 * pair)));
    return count;
  }
  __device__ std::uint32_t all() const { return groups[0] | groups[1] | groups[2] | groups[3]; }
  __device__ std::uint32_t flags(std::uint32_t pair) const { return flags_of_pair(groups, pair); }
};

template <class Shape>
class WideTile {
 public:
  static constexpr bool is_narrow = false;
  using Unions = WideUnions;

  __device__ void set(int point, std::uint32_t integer) { integers_[point] = integer; }
  /// Returns the first point's integer, which is subtracted from all.
  __device__ std::uint32_t fill(std::uint32_t absent) {
    if (__any_sync(whole_warp, absent != 0)) {
      std::uint32_t first = integers_[0];
#pragma unroll
      for (unsigned point = lane_points; point-- > 0;)
        if (((absent >> point) & 1) == 0) first = integers_[point];
      const std::uint32_t present = __ballot_sync(whole_warp, ~absent != 0);
      const std::uint32_t other =
          __shfl_sync(whole_warp, first, present == 0 ? 0 : __ffs(static_cast<int>(present)) - 1);
      fill_absent(integers_, absent, present == 0 ? 0 : other);
    }
    return rebase();
  }
  /// Subtracts the first point's integer, and returns it.
  __device__ std::uint32_t rebase() {
    const std::uint32_t base = __shfl_sync(whole_warp, integers_[0], 0);
#pragma unroll
    for (std::uint32_t& integer : integers_) integer -= base;
    return base;
  }
  /// The spread of the tile's integers.
  __device__ bool is_within(std::uint32_t reach) const {
    auto least = static_cast<std::int32_t>(integers_[0]);
    std::int32_t most = least;
#pragma unroll
    for (const std::uint32_t integer : integers_) {
      least = min(least, static_cast<std::int32_t>(integer));
      most = max(most, static_cast<std::int32_t>(integer));
    }
    least = __reduce_min_sync(whole_warp, least);
    most = __reduce_max_sync(whole_warp, most);
    return static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least) <= reach;
  }

  template <int axis>
  __device__ void difference_along(unsigned lane) {
    difference<Shape, axis>(integers_, lane);
  }
  template <int axis>
  __device__ void sum_along(unsigned lane) {
    sum<Shape, axis>(integers_, lane);
  }
  __device__ void unite(Unions& unions) const { unite(unions.groups); }
  __device__ void unite(std::uint32_t (&groups)[4]) const {
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      ZigzagUnion all;
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) all.add(integers_[Shape::point_of(group, bit)]);
      groups[group] = all.get();
    }
  }

  /// Calls f with bytes of eight planes, from the lowest on.
  template <class F>
  __device__ void for_each_slice(std::uint32_t plane_pairs, const F& f) {
#pragma unroll
    for (std::uint32_t& integer : integers_) integer = zigzag32(integer);
    for (unsigned slice = 0; 4 * slice < plane_pairs; ++slice) {
      PlaneBytes bytes;
      make_planes(slice, bytes);
      f(slice, bytes);
    }
  }

 protected:
  WarpPoints integers_;

 private:
  __device__ void make_planes(unsigned slice, PlaneBytes& bytes) const {
    const unsigned select = slice | (slice + 4) << 4;
    const auto pack = [&](int group, int bit) {
      const auto at = [&](int i) { return integers_[Shape::point_of(group, bit + i)]; };
      return __byte_perm(__byte_perm(at(0), at(1), select), __byte_perm(at(2), at(3), select),
                         0x5410);
    };
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      bytes.low[group] = pack(group, 0);
      bytes.high[group] = pack(group, 4);
      transpose_bits(bytes.low[group], bytes.high[group]);
    }
  }
};

/// Integers that mostly need all their planes.
template <class Shape>
class WordTile : public WideTile<Shape> {
 public:
  using Unions = WordUnions;

  __device__ void unite(Unions& unions) const { WideTile<Shape>::unite(unions.words); }

  /// Calls f with the two words of each pair of planes.
  template <class F>
  __device__ void for_each_pair(std::uint32_t pairs, const F& f) const {
    PlaneWords planes;
#pragma unroll
    for (int i = 0; i < 32; ++i) planes[i] = this->integers_[Shape::point_of(i / 8, i % 8)];
    transpose_points(planes);
    const std::uint32_t signs = planes[31];
#pragma unroll
    for (int pair = 0; pair < static_cast<int>(TileHead::max_pairs); ++pair) {
      if (static_cast<std::uint32_t>(pair) >= pairs) break;
      const std::uint32_t low = pair == 0 ? signs : planes[2 * pair - 1] ^ signs;
      const std::uint32_t high = planes[2 * pair] ^ signs;
      f(static_cast<std::uint32_t>(pair), __byte_perm(low, high, 0x5140),
        __byte_perm(low, high, 0x7362));
    }
  }
};

template <class Shape>
class NarrowTile {
 public:
  static constexpr bool is_narrow = true;
  using Unions = PairUnions;

  /// The lower point of a pair must be set first.
  __device__ void set(int point, std::uint32_t integer) {
    if (point < lane_pairs)
      pairs_[point] = integer;
    else
      pairs_[point - lane_pairs] += integer << 16;
  }
  /// Returns the first point's integer.
  __device__ std::uint32_t base(std::uint32_t first) {
    const std::uint32_t base = __shfl_sync(whole_warp, first, 0);
    edge_ = 65537 * base;
    if constexpr (Shape::extents[0] == 1) {
#pragma unroll
      for (std::uint32_t& pair : pairs_) pair += pair_bias - edge_;
      edge_ = pair_bias;
    }
    return base;
  }

  __device__ static bool is_within(std::uint32_t /*reach*/) { return true; }

  template <int axis>
  __device__ void difference_along(unsigned lane) {
    difference_pairs<Shape, axis>(pairs_, edge_, lane);
    edge_ = pair_bias;
  }
  template <int axis>
  __device__ void sum_along(unsigned lane) {
#pragma unroll
    for (std::uint32_t& pair : pairs_) pair -= pair_bias;
    sum_pairs<Shape, axis>(pairs_, lane);
#pragma unroll
    for (std::uint32_t& pair : pairs_) pair += pair_bias;
  }
  __device__ void unite(Unions& unions) const { unions.unite<Shape>(pairs_); }

  template <class F>
  __device__ void for_each_slice(std::uint32_t plane_pairs, const F& f) {
    PlaneBytes slices[2];
    planes_from_pairs<Shape>(pairs_, plane_pairs > 4, slices);
    if (plane_pairs > 0) f(0U, slices[0]);
    if (plane_pairs > 4) f(1U, slices[1]);
  }

 private:
  WarpPairs pairs_;
  std::uint32_t edge_;  ///< value before the tile, for differences
};

}  // namespace cuszi::gpu
