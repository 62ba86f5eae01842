#pragma once

#include <cmath>

#include "gpu/tiles/tile_warp.cuh"

namespace cuszi::gpu {

/// Two points of a lane, 16 apart, in one register as low + 2^16 x high. Sums and differences act
/// on both; intermediate overflow is harmless if the results fit.
inline constexpr int lane_pairs = 16;
using WarpPairs = std::uint32_t[lane_pairs];

/// Makes both halves unsigned integers with an offset of 2^15.
inline constexpr std::uint32_t pair_bias = 0x80008000U;

/// Whether integers of values in [min, max] are in range and fit pairs.
template <class T>
bool fits_pairs(const TileQuantizer<T>& quantizer, double min, double max) {
  const double largest = std::fmax(std::fabs(min), std::fabs(max));
  const auto inverse_step = static_cast<double>(quantizer.inverse_step);
  return largest * inverse_step < static_cast<double>(quantizer.reach) - 2 &&
         (max - min) * inverse_step < narrow_reach;
}

/// The axis along which a pair's points are half a block apart.
template <class Shape>
inline constexpr int pair_axis = Shape::block(0) > 1   ? 0
                                 : Shape::block(1) > 1 ? 1
                                                       : 2;

template <class Shape, int axis>
inline constexpr int pairs_along = axis == pair_axis<Shape> ? Shape::block(axis) / 2
                                                            : Shape::block(axis);

__device__ inline std::uint32_t high_of(std::uint32_t pair) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(pair + 0x8000U) >> 16);
}

/// Exclusive prefix sum over lanes along an axis.
template <class Shape, int axis>
__device__ std::uint32_t sum_before(std::uint32_t value, unsigned lane) {
  if constexpr (Shape::lanes(axis) == 2) return from_lane_before<Shape, axis>(value, lane, 1);
  std::uint32_t sum = value;
#pragma unroll
  for (int distance = 1; distance < Shape::lanes(axis); distance *= 2)
    sum += from_lane_before<Shape, axis>(sum, lane, distance);
  return sum - value;
}

template <class Shape, int axis>
__device__ void sum_pairs(WarpPairs& pairs, unsigned lane) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int length = pairs_along<Shape, axis>;
  constexpr bool within = axis == pair_axis<Shape>;
#pragma unroll
  for (int first = 0; first < lane_pairs; ++first) {
    if (first / stride % length != 0) continue;
    const int last = first + (length - 1) * stride;
#pragma unroll
    for (int point = first + stride; point <= last; point += stride)
      pairs[point] += pairs[point - stride];
    std::uint32_t before = within ? pairs[last] << 16 : 0;  // the lower half's sum
    if constexpr (Shape::lanes(axis) > 1) {
      before += within ? 65537 * sum_before<Shape, axis>(high_of(pairs[last] + before), lane)
                       : sum_before<Shape, axis>(pairs[last], lane);
    }
#pragma unroll
    for (int point = first; point <= last; point += stride) pairs[point] += before;
  }
}

/// Pairs have pair_bias, the tile's first differences are to `edge`. Across pair_axis, pairs and
/// `edge` may lack a common constant.
template <class Shape, int axis>
__device__ void difference_pairs(WarpPairs& pairs, std::uint32_t edge, unsigned lane) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int length = pairs_along<Shape, axis>;
  constexpr bool within = axis == pair_axis<Shape>;
#pragma unroll
  for (int first = 0; first < lane_pairs; ++first) {
    if (first / stride % length != 0) continue;
    const int last = first + (length - 1) * stride;
    std::uint32_t before = within ? edge >> 16 : edge;
    if constexpr (Shape::lanes(axis) > 1) {
      const std::uint32_t other =
          __shfl_up_sync(whole_warp, within ? pairs[last] >> 16 : pairs[last],
                         static_cast<unsigned>(Shape::lane_stride(axis)));
      if (Shape::lane_along(static_cast<int>(lane), axis) != 0) before = other;
    }
    if constexpr (within) before += pairs[last] << 16;
#pragma unroll
    for (int point = last; point > first; point -= stride)
      pairs[point] = pairs[point] - pairs[point - stride] + pair_bias;
    pairs[first] = pairs[first] - before + pair_bias;
  }
}

/// prmt without masking the selector: its high bit replicates a byte's sign.
__device__ inline std::uint32_t permute(std::uint32_t low, std::uint32_t high,
                                        std::uint32_t select) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(select));
  return result;
}

/// What all kinds of flags of a lane's nonzero bytes have.
template <class Unions>
struct UnionsOfPairs {
  __device__ static std::uint32_t pairs_of(std::uint32_t integers) {
    return cuszi::pairs_of(integers);
  }
  __device__ void order_by_pair() {}
  /// Calls f(pair, flags).
  template <class F>
  __device__ void for_each_pair(std::uint32_t pairs, const F& f) const {
#pragma unroll 1
    for (std::uint32_t pair = 0; pair < pairs; ++pair)
      f(pair, static_cast<const Unions*>(this)->flags(pair));
  }
};

/// Flags of a lane's nonzero bytes of planes: groups 0 and 2, 1 and 3, in halves.
struct PairUnions : UnionsOfPairs<PairUnions> {
  std::uint32_t groups[2];

  /// `pairs` have pair_bias: their high bits are inverted signs.
  template <class Shape>
  __device__ void unite(const WarpPairs& pairs) {
#pragma unroll
    for (int group = 0; group < 2; ++group) {
      std::uint32_t magnitudes = 0;
      std::uint32_t signs = 0;
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) {
        const std::uint32_t pair = pairs[Shape::point_of(group, bit)];
        magnitudes |= pair ^ ~permute(pair, 0, 0xBB99);
        signs |= ~pair;
      }
      groups[group] = (magnitudes << 1 & 0xFFFEFFFEU) | (signs >> 15 & 0x00010001U);
    }
  }
  __device__ std::uint32_t count() const { return count_from(0); }
  /// Without the lowest `pair` pairs.
  __device__ std::uint32_t count_from(std::uint32_t pair) const {
    const std::uint32_t kept = 65537 * (0xFFFFU << (2 * pair) & 0xFFFFU);
    return static_cast<unsigned>(__popc(groups[0] & kept) + __popc(groups[1] & kept));
  }
  __device__ std::uint32_t all() const {
    const std::uint32_t both = groups[0] | groups[1];
    return (both | both >> 16) & 0xFFFFU;
  }
  __device__ std::uint32_t flags(std::uint32_t pair) const {
    const std::uint32_t even = groups[0] >> (2 * pair) & 0x00030003U;
    const std::uint32_t odd = groups[1] >> (2 * pair) & 0x00030003U;
    const std::uint32_t both = even | odd << 2;
    return (both | both >> 12) & 0xFFU;
  }
};

/// Up to 16 planes of zigzags; a word holds a pair of planes of two groups.
inline constexpr unsigned narrow_pairs = 8;
struct NarrowPlanes {
  std::uint32_t first[narrow_pairs / 4][4] = {};   ///< groups 0 and 1
  std::uint32_t second[narrow_pairs / 4][4] = {};  ///< groups 2 and 3
};

/// One byte per point.
struct GroupBytes {
  std::uint32_t low;
  std::uint32_t high;
};

/// Plane 0 of zigzags is the sign; the others are inverted for negative integers, which one XOR
/// undoes for 32 points. With the inverted sign as high bit, bytes and words are biased integers.
template <class Shape>
__device__ void pairs_from_planes(NarrowPlanes& planes, bool wide, WarpPairs& pairs) {
  const std::uint32_t first_signs = __byte_perm(planes.first[0][0], 0, 0x2200);
  const std::uint32_t second_signs = __byte_perm(planes.second[0][0], 0, 0x2200);
#pragma unroll
  for (unsigned i = 0; i < narrow_pairs; ++i) {
    planes.first[i / 4][i % 4] ^= first_signs;
    planes.second[i / 4][i % 4] ^= second_signs;
  }
  const auto four = [&](int group, int i) {  // planes 2 i .. 2 i + 3
    const auto& words = (group < 2 ? planes.first : planes.second)[i / 4];
    return __byte_perm(words[i % 4], words[i % 4 + 1], group % 2 == 0 ? 0x5410 : 0x7632);
  };
  const auto top = [&](int group, std::uint32_t last) {  // three planes and the sign
    return __byte_perm(last, ~(group < 2 ? first_signs : second_signs),
                       group % 2 == 0 ? 0x4321 : 0x6321);
  };
  const auto transposed = [](std::uint32_t low, std::uint32_t high) {
    transpose_bits(low, high);
    return GroupBytes{low, high};
  };
  if (!wide) {
    const auto bytes_of = [&](int group) {
      const std::uint32_t last = four(group, 2);
      return transposed(__byte_perm(four(group, 0), last, 0x4321), top(group, last));
    };
#pragma unroll
    for (int group = 0; group < 2; ++group) {
      const GroupBytes lower = bytes_of(group);
      const GroupBytes higher = bytes_of(group + 2);
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) {
        const unsigned select = 0x4400U + 0x1111U * (bit % 4);
        const std::uint32_t bytes = __byte_perm(bit < 4 ? lower.low : lower.high,
                                                bit < 4 ? higher.low : higher.high, select);
        pairs[Shape::point_of(group, bit)] = (bytes & 0x00FF00FFU) - 0x00800080U;
      }
    }
    return;
  }
  struct GroupWords {
    GroupBytes low;
    GroupBytes high;
  };
  const auto words_of = [&](int group) {
    const std::uint32_t second = four(group, 2);
    const std::uint32_t third = four(group, 4);
    const std::uint32_t last = four(group, 6);
    return GroupWords{
        transposed(__byte_perm(four(group, 0), second, 0x4321), __byte_perm(second, third, 0x4321)),
        transposed(__byte_perm(third, last, 0x4321), top(group, last))};
  };
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    const GroupWords lower = words_of(group);
    const GroupWords higher = words_of(group + 2);
    const auto two = [](const GroupWords& words, int bit) {
      return __byte_perm(bit < 4 ? words.low.low : words.low.high,
                         bit < 4 ? words.high.low : words.high.high,
                         bit % 4 == 0 ? 0x5140 : 0x7362);
    };
#pragma unroll
    for (int bit = 0; bit < 8; bit += 2) {
      const std::uint32_t here = two(lower, bit);
      const std::uint32_t there = two(higher, bit);
      pairs[Shape::point_of(group, bit)] = __byte_perm(here, there, 0x5410) - pair_bias;
      pairs[Shape::point_of(group, bit + 1)] = __byte_perm(here, there, 0x7632) - pair_bias;
    }
  }
}

/// Inverse of pairs_from_planes(), for pairs with pair_bias.
template <class Shape>
__device__ void planes_from_pairs(const WarpPairs& pairs, bool wide, PlaneBytes (&slices)[2]) {
  const auto transposed = [&](int group, unsigned slice) {  // of two groups
    const auto four = [&](int bit, unsigned select) {
      const auto two = [&](int i) {
        return __byte_perm(pairs[Shape::point_of(group, i)], pairs[Shape::point_of(group, i + 1)],
                           0x6240 + 0x1111 * slice);
      };
      return __byte_perm(two(bit), two(bit + 2), select);
    };
    PlaneBytes& bytes = slices[slice];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned select = half == 0 ? 0x5410 : 0x7632;
      std::uint32_t low = four(0, select);
      std::uint32_t high = four(4, select);
      transpose_bits(low, high);
      bytes.low[group + 2 * half] = low;
      bytes.high[group + 2 * half] = high;
    }
  };
#pragma unroll
  for (int group = 0; group < 2; ++group) transposed(group, 0);
  if (wide) {
#pragma unroll
    for (int group = 0; group < 2; ++group) transposed(group, 1);
  }
#pragma unroll
  for (int group = 0; group < 4; ++group) {
    const std::uint32_t top = wide ? ~slices[1].high[group] : slices[0].high[group];
    const std::uint32_t signs = __byte_perm(top, 0, 0x3333);
    std::uint32_t below = signs;
#pragma unroll
    for (unsigned slice = 0; slice < 2; ++slice) {
      if (slice == 1 && !wide) break;
      PlaneBytes& bytes = slices[slice];
      const std::uint32_t low = bytes.low[group] ^ signs;
      const std::uint32_t high = bytes.high[group] ^ signs;
      bytes.low[group] = __byte_perm(below, low, 0x6543);
      bytes.high[group] = __byte_perm(low, high, 0x6543);
      below = high;
    }
  }
}

}  // namespace cuszi::gpu
