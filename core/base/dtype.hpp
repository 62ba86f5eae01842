#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "the bound and the bytes need IEEE arithmetic: build without -ffast-math and its parts"
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Types of stored values. Numbers in archives.
enum class DType : std::uint8_t {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  bf16 = 3,
  i8 = 4,
  u8 = 5,
  i16 = 6,
  u16 = 7,
  i32 = 8,
  u32 = 9,
  i64 = 10,
  u64 = 11
};

enum class NumberKind : std::uint8_t { floating, integer, unsigned_integer };

/// Predictors see values as `work`, which holds every value exactly, 64-bit integers excepted.
struct DTypeRow {
  std::string_view name;
  ByteCount bytes;
  NumberKind kind;
  DType work;
};

inline constexpr std::array<DTypeRow, 12> dtype_table{{
    {"f32", 4, NumberKind::floating, DType::f32},
    {"f64", 8, NumberKind::floating, DType::f64},
    {"f16", 2, NumberKind::floating, DType::f32},
    {"bf16", 2, NumberKind::floating, DType::f32},
    {"i8", 1, NumberKind::integer, DType::f32},
    {"u8", 1, NumberKind::unsigned_integer, DType::f32},
    {"i16", 2, NumberKind::integer, DType::f32},
    {"u16", 2, NumberKind::unsigned_integer, DType::f32},
    {"i32", 4, NumberKind::integer, DType::f64},
    {"u32", 4, NumberKind::unsigned_integer, DType::f64},
    {"i64", 8, NumberKind::integer, DType::f64},
    {"u64", 8, NumberKind::unsigned_integer, DType::f64},
}};

constexpr const DTypeRow& row_of(DType dtype) {
  return dtype_table[static_cast<std::size_t>(dtype)];
}
constexpr ByteCount size_of(DType dtype) { return row_of(dtype).bytes; }
constexpr std::string_view name_of(DType dtype) { return row_of(dtype).name; }
constexpr DType work_of(DType dtype) { return row_of(dtype).work; }
/// Whether values are converted before they are predicted.
constexpr bool is_cast(DType dtype) { return work_of(dtype) != dtype; }
constexpr bool is_integer(DType dtype) { return row_of(dtype).kind != NumberKind::floating; }
/// 64-bit integers, which no work type holds exactly.
constexpr bool is_wide_integer(DType dtype) { return is_integer(dtype) && size_of(dtype) == 8; }

/// By name; nullopt if unknown.
constexpr std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    if (dtype_table[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Calls `f` with a zero of the C++ type of `dtype`, a work type.
template <class F>
decltype(auto) with_type_of(DType dtype, F&& f) {
  if (is_cast(dtype)) throw InternalError("values were not converted to their work type");
  if (dtype == DType::f32) return f(float{});
  return f(double{});
}

/// Calls `f` with a zero of an unsigned integer as wide as `dtype`.
template <class F>
decltype(auto) with_word_of(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    default: return f(std::uint64_t{});
  }
}

}  // namespace cuszi
