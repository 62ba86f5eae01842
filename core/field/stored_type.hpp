#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/dtype.hpp"
#include "core/base/error.hpp"
#include "core/base/hd.hpp"
#include "core/base/lossless.hpp"
#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"
#include "core/field/bound.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// A binary format of 16 bits with sign, exponent and fraction: IEEE's has 5 bits of exponent,
/// bfloat16 has 8. Conversions work on bits, so that NaN keep their payloads.
template <int exponent_bits>
struct Half {
  static constexpr int fraction_bits = 15 - exponent_bits;
  static constexpr std::uint32_t infinity = 0x7FFF >> fraction_bits << fraction_bits;

  std::uint16_t bits = 0;

  CUSZI_HD float value() const {
    constexpr std::uint32_t fraction_mask = (1U << fraction_bits) - 1;
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t widened = magnitude << shift;
    if (exponent_bits == 8) return std::bit_cast<float>(sign | widened);
    if (magnitude >= infinity) {
      return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & fraction_mask) << shift);
    }
    if (magnitude <= fraction_mask) {
      const float exact = static_cast<float>(magnitude) * 0x1p-24F;
      return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(exact));
    }
    return std::bit_cast<float>(sign | (widened + (bias_difference << 23U)));
  }

  /// The nearest value, ties to even; finite values stay finite.
  CUSZI_HD static Half nearest(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = word >> 16U & 0x8000U;
    const std::uint32_t magnitude = word & 0x7FFFFFFFU;
    if (magnitude >= 0x7F800000U) {
      return of(sign | infinity | (magnitude & 0x007FFFFFU) >> shift);
    }
    const std::uint32_t exponent = std::max(magnitude >> 23U, 1U);
    if (exponent > bias_difference) {
      const std::uint32_t rebiased = magnitude - (bias_difference << 23U);
      return of(sign | std::min(shifted(rebiased, shift), infinity - 1));
    }
    const std::uint32_t hidden = magnitude >> 23U == 0 ? 0 : 0x00800000U;
    const std::uint32_t places = shift + bias_difference + 1 - exponent;
    const std::uint32_t significand = (magnitude & 0x007FFFFFU) | hidden;
    return of(sign | (places > 25 ? 0 : shifted(significand, places)));
  }

 private:
  static constexpr std::uint32_t shift = 23 - fraction_bits;
  static constexpr std::uint32_t bias_difference = 128 - (1U << (exponent_bits - 1));

  CUSZI_HD static Half of(std::uint32_t bits) { return {static_cast<std::uint16_t>(bits)}; }

  CUSZI_HD static std::uint32_t shifted(std::uint32_t word, std::uint32_t places) {
    return (word + (1U << (places - 1)) - 1 + (word >> places & 1U)) >> places;
  }
};

using Float16 = Half<5>;
using BFloat16 = Half<8>;

/// The nearest integer, ties to even, in the type's range.
template <class I, class W>
CUSZI_HD I nearest_in_range(W value) {
  constexpr W rounding = sizeof(W) == 4 ? W{0x1.8p23} : W{0x1.8p52};
  constexpr auto least = static_cast<W>(std::numeric_limits<I>::min());
  constexpr auto most = static_cast<W>(std::numeric_limits<I>::max());
  // NaN goes to the least.
  const W limited = value > least ? (value < most ? value : most) : least;
  return static_cast<I>((limited + rounding) - rounding);
}

/// The nearest value of type `To`, which is in the range of integers and finite for halves.
template <class To, class From>
CUSZI_HD To converted_to(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (!std::is_arithmetic_v<From>) {
    return converted_to<To>(value.value());
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return nearest_in_range<To>(value);
  } else {
    return To::nearest(static_cast<float>(value));
  }
}

/// The work type of values of type `S`.
template <class S>
using WorkOf = std::conditional_t<(sizeof(S) <= 2 || std::is_same_v<S, float>), float, double>;

/// The bits of a value of type `S`.
template <class S>
using StoredBits = std::conditional_t<sizeof(S) == 1, std::uint8_t,
                                      std::conditional_t<sizeof(S) == 2, std::uint16_t, BitsOf<S>>>;

/// Calls `f` with a zero of the C++ type of `dtype`.
template <class F>
decltype(auto) with_stored_type_of(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::f16: return f(Float16{});
    case DType::bf16: return f(BFloat16{});
    case DType::i8: return f(std::int8_t{});
    case DType::u8: return f(std::uint8_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::u16: return f(std::uint16_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::i64: return f(std::int64_t{});
    default: return f(std::uint64_t{});
  }
}

/// with_stored_type_of() for the types of at most 32 bits that are not `Work` but have it as work
/// type. Throws InternalError for others.
template <class Work, class F>
decltype(auto) with_cast_type_of(DType dtype, F&& f) {
  using Result =
      decltype(f(std::conditional_t<std::is_same_v<Work, float>, Float16, std::uint32_t>{}));
  return with_stored_type_of(dtype, [&](auto zero) -> Result {
    using S = decltype(zero);
    if constexpr (sizeof(S) <= 4 && !std::is_same_v<S, Work> && std::is_same_v<WorkOf<S>, Work>) {
      return f(zero);
    } else {
      throw InternalError("values of this type are not converted to the work type");
    }
  });
}

/// Converts to the work type; 64-bit integers to the nearest double. `work` has as many values.
void to_work(DType stored, Bytes values, MutableBytes work, const ForEach& for_each = one_by_one);

/// Inverse of to_work(); other values go to the nearest one of the stored type, ties to even,
/// within its range. Not for 64-bit integers.
void from_work(DType stored, Bytes work, MutableBytes values, const ForEach& for_each = one_by_one);

/// Stored values in their work type; converts only if the types differ.
class WorkValues : Unmovable {
 public:
  WorkValues(DType stored, Bytes values) : bytes_(values) {
    if (!is_cast(stored)) return;
    own_.resize(values.size() / size_of(stored) * size_of(work_of(stored)));
    to_work(stored, values, own_);
    bytes_ = own_;
  }

  Bytes bytes() const { return bytes_; }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  std::vector<std::byte> own_;
  Bytes bytes_;
};

/// Calls `f` with the work values, as a span.
template <class F>
decltype(auto) with_work_values(DType stored, Bytes values, F&& f) {
  const WorkValues work(stored, values);
  return with_type_of(work_of(stored),
                      [&](auto zero) { return f(work.template as<decltype(zero)>()); });
}

/// The value of the stored type nearest to `value`, as double.
double nearest_stored(DType stored, double value);

/// Whether `value` is one of the type's, after rounding if the type has fractions.
bool is_stored_value(DType stored, double value);

/// The fill values, rounded to the type.
FillValues stored_fills(DType stored, FillValues fills);

/// Rules for work values whose roundings then keep `rules`: halfway values around each fill value
/// and isovalue are isovalues. Throws UsageError for too many.
ValueRules work_rules(DType stored, const ValueRules& rules);

/// The bound that errors of stored values have: of integers, an absolute one is an integer.
ValueBound stored_bound(DType stored, const ValueBound& bound);

/// The distinct values of a type of up to 16 bits: bit w % 64 of word w / 64 stands for bits w.
struct DistinctValues {
  static constexpr std::size_t words = 65536 / 64;

  std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(words);

  bool has(std::size_t value) const { return (bits[value / 64] >> (value % 64) & 1) != 0; }
  void add(DType stored, Bytes values);
  void add(const DistinctValues& others);
};

/// A bound for work values: if it holds, `bound` holds for the roundings of the frame's values.
/// Calls `distinct` if it depends on these.
ValueBound work_bound(DType stored, const ValueBound& bound,
                      const std::function<DistinctValues()>& distinct);

/// An absolute bound for work values that serves all values of the type: half of `bound` for
/// floating types; for integers its whole part and almost 1/2, which alone is lossless.
double work_bound(DType stored, double bound);
void to_work(DType stored, AskedBounds& asked);

/// The bound of stored values that work_bound() made a local one of.
inline double bound_of_local(DType stored, double work) {
  if (!is_cast(stored)) return work;
  return is_integer(stored) ? std::floor(work) : 2 * work;
}

/// Moves each 64-bit integer to the nearest multiple of 2 x floor(bound) + 1, which is within the
/// bound, unless that is beyond the type's range or a fill value. Fill values stay. Returns the odd
/// number. A fill value stands for all integers that round to it: the usual ones of these types
/// have no exact double.
std::uint64_t quantise_wide(DType stored, double bound, const FillValues& fills,
                            MutableBytes values);

}  // namespace cuszi
