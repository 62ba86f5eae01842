#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "the bound and the bytes need IEEE arithmetic: build without -ffast-math and its parts"
#endif

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/base/units.hpp"

namespace cuszi {

/// Numbers in archives.
enum class DType : std::uint8_t { f32 = 0, f64 = 1 };

constexpr ByteCount size_of(DType dtype) { return dtype == DType::f32 ? 4 : 8; }

constexpr std::string_view name_of(DType dtype) { return dtype == DType::f32 ? "f32" : "f64"; }

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Calls `f` with a zero of the C++ type of `dtype`.
template <class F>
decltype(auto) with_type_of(DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  return f(double{});
}

}  // namespace cuszi
