#pragma once

#include <bit>
#include <cstdint>

#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_planes.hpp"

namespace cuszi {

/// zfp's coefficient order, by the sum of coordinates: the position in a block, fastest axis first.
template <int rank>
CUSZI_HD constexpr int zfp_place(int i) {
  if constexpr (rank == 1) {
    return i;
  } else if constexpr (rank == 2) {
    constexpr std::uint8_t places[16] = {0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15};
    return places[i];
  } else if constexpr (rank == 3) {
    constexpr std::uint8_t places[64] = {
        0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33, 36, 3,  12, 48, 22, 25,
        37, 40, 34, 10, 7,  19, 28, 13, 49, 52, 41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56,
        42, 27, 39, 45, 30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
    return places[i];
  } else {
    constexpr std::uint8_t places[256] = {
        0,   1,   4,   16,  64,  5,   80,  17,  68,  65,  20,  2,   8,   32,  128, 84,  81,  69,
        21,  6,   18,  66,  24,  72,  9,   96,  33,  36,  129, 132, 144, 3,   12,  48,  192, 85,
        82,  70,  22,  73,  25,  88,  37,  100, 97,  148, 145, 133, 10,  160, 34,  136, 130, 40,
        7,   19,  67,  28,  76,  13,  112, 49,  52,  193, 196, 208, 86,  89,  101, 149, 161, 137,
        41,  134, 38,  164, 26,  152, 146, 104, 98,  74,  83,  71,  23,  77,  29,  92,  53,  116,
        113, 212, 209, 197, 11,  35,  131, 44,  140, 14,  176, 50,  56,  194, 200, 224, 90,  165,
        102, 153, 150, 105, 168, 162, 138, 42,  87,  93,  117, 213, 27,  75,  99,  39,  135, 147,
        108, 45,  141, 156, 30,  78,  177, 180, 54,  114, 120, 57,  198, 210, 216, 201, 225, 228,
        15,  240, 51,  204, 195, 60,  169, 166, 154, 106, 91,  103, 151, 109, 157, 94,  181, 118,
        121, 214, 217, 229, 163, 139, 43,  142, 46,  172, 58,  184, 178, 232, 226, 202, 241, 205,
        61,  199, 55,  244, 31,  220, 211, 124, 115, 79,  170, 167, 155, 107, 158, 110, 173, 122,
        185, 182, 233, 230, 218, 95,  245, 119, 221, 215, 125, 242, 206, 62,  203, 59,  248, 47,
        236, 227, 188, 179, 143, 171, 174, 186, 234, 246, 222, 126, 219, 123, 249, 111, 237, 231,
        189, 183, 159, 252, 243, 207, 63,  175, 250, 187, 238, 235, 190, 253, 247, 223, 127, 254,
        251, 239, 191, 255};
    return places[i];
  }
}

namespace zfp {

/// Saturates to infinity or 0 outside T's range.
template <class T>
CUSZI_HD inline T power_of_two(int exponent) {
  using UInt = typename ZfpType<T>::UInt;
  constexpr int bias = ZfpType<T>::exponent_bias;
  constexpr int mantissa_bits = ZfpType<T>::bits - 1 - ZfpType<T>::exponent_bits;
  if (exponent >= 1 - bias) {
    const int biased = exponent > bias ? 2 * bias + 1 : exponent + bias;
    return std::bit_cast<T>(static_cast<UInt>(biased) << mantissa_bits);
  }
  const int place = exponent - (1 - bias - mantissa_bits);
  return std::bit_cast<T>(place < 0 ? UInt{0} : static_cast<UInt>(UInt{1} << place));
}

struct BlockExponent {
  /// The least e with |x| < 2^e for all values but NaN, at least the subnormals' exponent; -bias if
  /// all are 0, 0 with an infinity (frexp()).
  int exponent;
  bool is_finite;
};

template <class T, int values>
CUSZI_HD inline BlockExponent block_exponent(const T* block) {
  using UInt = typename ZfpType<T>::UInt;
  constexpr int bias = ZfpType<T>::exponent_bias;
  constexpr int mantissa_bits = ZfpType<T>::bits - 1 - ZfpType<T>::exponent_bits;
  constexpr UInt infinity = static_cast<UInt>(2 * bias + 1) << mantissa_bits;
  constexpr UInt all_but_sign = ~UInt{0} >> 1;
  UInt largest = 0;
  for_each_of<values>([&](int i) {
    const UInt magnitude = std::bit_cast<UInt>(block[i]) & all_but_sign;
    largest = magnitude > largest ? magnitude : largest;
  });
  const bool is_finite = largest < infinity;
  if (!is_finite) {
    largest = 0;
    for (int i = 0; i < values; ++i) {
      const UInt magnitude = std::bit_cast<UInt>(block[i]) & all_but_sign;
      largest = magnitude > largest && magnitude <= infinity ? magnitude : largest;
    }
    if (largest == infinity) return {0, false};
  }
  const int biased = static_cast<int>(largest >> mantissa_bits);
  return {largest == 0 ? -bias : biased - (bias - 1), is_finite};
}

/// Out-of-range values become the lowest integer, as on x86.
template <class T>
CUSZI_HD inline typename ZfpType<T>::Int truncated(T x) {
  using Int = typename ZfpType<T>::Int;
  using UInt = typename ZfpType<T>::UInt;
  constexpr UInt sign = UInt{1} << (ZfpType<T>::bits - 1);
  constexpr T limit = static_cast<T>(sign);
  const bool fits = x > -limit && x < limit;  // false for NaN
  return fits ? static_cast<Int>(x) : static_cast<Int>(sign);
}

/// |x| < 2^exponent becomes an integer below 2^(bits - 2).
template <class T, int values>
CUSZI_HD inline void to_fixed_point(const T* block, BlockExponent common,
                                    typename ZfpType<T>::Int* out) {
  using Int = typename ZfpType<T>::Int;
  const int up = ZfpType<T>::bits - 2 - common.exponent;
  const T scale = power_of_two<T>(up);
  if (common.is_finite && up <= ZfpType<T>::exponent_bias) {
    for_each_of<values>([&](int i) { out[i] = static_cast<Int>(scale * block[i]); });
  } else {
    for (int i = 0; i < values; ++i) out[i] = truncated<T>(scale * block[i]);
  }
}

template <class T, int values>
CUSZI_HD inline void from_fixed_point(const typename ZfpType<T>::Int* fixed, int exponent,
                                      T* block) {
  const T scale = power_of_two<T>(exponent - (ZfpType<T>::bits - 2));
  for_each_of<values>([&](int i) { block[i] = scale * static_cast<T>(fixed[i]); });
}

/// Signed arithmetic modulo 2^bits.
template <class Int>
CUSZI_HD constexpr Int sum(Int a, Int b) {
  using UInt = std::make_unsigned_t<Int>;
  return static_cast<Int>(static_cast<UInt>(a) + static_cast<UInt>(b));
}
template <class Int>
CUSZI_HD constexpr Int difference(Int a, Int b) {
  using UInt = std::make_unsigned_t<Int>;
  return static_cast<Int>(static_cast<UInt>(a) - static_cast<UInt>(b));
}
/// Rounded down.
template <class Int>
CUSZI_HD constexpr Int mean(Int a, Int b) {
  return sum(a, b) >> 1;
}

/// zfp's decorrelating transform, in lifting steps.
struct Lifting {
  template <class Int>
  CUSZI_HD static void forward(Int& x, Int& y, Int& z, Int& w) {
    x = mean(x, w);
    w = difference(w, x);
    z = mean(z, y);
    y = difference(y, z);
    x = mean(x, z);
    z = difference(z, x);
    w = mean(w, y);
    y = difference(y, w);
    w = sum(w, static_cast<Int>(y >> 1));
    y = difference(y, static_cast<Int>(w >> 1));
  }
  template <class Int>
  CUSZI_HD static void inverse(Int& x, Int& y, Int& z, Int& w) {
    y = sum(y, static_cast<Int>(w >> 1));
    w = difference(w, static_cast<Int>(y >> 1));
    undo_mean(w, y);
    undo_mean(x, z);
    undo_mean(z, y);
    undo_mean(x, w);
  }

 private:
  /// From a = mean(a, b) and b - a, restores a and b.
  template <class Int>
  CUSZI_HD static void undo_mean(Int& a, Int& b) {
    b = sum(b, a);
    a = difference(sum(a, a), b);
  }
};

/// Third differences, for reversible blocks.
struct Differences {
  template <class Int>
  CUSZI_HD static void forward(Int& x, Int& y, Int& z, Int& w) {
    w = difference(w, z);
    z = difference(z, y);
    y = difference(y, x);
    w = difference(w, z);
    z = difference(z, y);
    w = difference(w, z);
  }
  template <class Int>
  CUSZI_HD static void inverse(Int& x, Int& y, Int& z, Int& w) {
    w = sum(w, z);
    z = sum(z, y);
    w = sum(w, z);
    y = sum(y, x);
    z = sum(z, y);
    w = sum(w, z);
  }
};

/// Calls `step` for each line of four along an axis; elements are `stride` apart.
template <int values, int stride, class Int, class Step>
CUSZI_HD inline void for_lines(Int* block, const Step& step) {
  for_each_of<values / 4, values <= 64>([&](int line) {
    Int* const first = block + line / stride * 4 * stride + line % stride;
    step(first[0], first[stride], first[2 * stride], first[3 * stride]);
  });
}

template <class Transform, int rank, class Int>
CUSZI_HD inline void transform(Int* block) {
  constexpr int values = zfp_block_values(rank);
  const auto step = [](Int& x, Int& y, Int& z, Int& w) { Transform::forward(x, y, z, w); };
  for_lines<values, 1>(block, step);
  if constexpr (rank > 1) for_lines<values, 4>(block, step);
  if constexpr (rank > 2) for_lines<values, 16>(block, step);
  if constexpr (rank > 3) for_lines<values, 64>(block, step);
}

template <class Transform, int rank, class Int>
CUSZI_HD inline void undo_transform(Int* block) {
  constexpr int values = zfp_block_values(rank);
  const auto step = [](Int& x, Int& y, Int& z, Int& w) { Transform::inverse(x, y, z, w); };
  if constexpr (rank > 3) for_lines<values, 64>(block, step);
  if constexpr (rank > 2) for_lines<values, 16>(block, step);
  if constexpr (rank > 1) for_lines<values, 4>(block, step);
  for_lines<values, 1>(block, step);
}

}  // namespace zfp
}  // namespace cuszi
