#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace cuszi::cpu {

/// As many values as are worked on side by side, in two vector registers; every operation is that
/// of each value alone.
template <class T>
struct Pack {
  using Vector [[gnu::vector_size(16)]] = T;
  static constexpr std::size_t half = sizeof(Vector) / sizeof(T);
  static constexpr std::size_t size = 2 * half;

  Vector low;
  Vector high;

  Pack() = default;
  Pack(Vector first, Vector second) : low(first), high(second) {}
  /// All lanes alike; implicit, so that a formula reads like that of one value.
  Pack(T value) : low(all(value)), high(low) {}

  /// Values that follow each other.
  static Pack load(const T* first) {
    Pack pack;
    std::memcpy(&pack.low, first, sizeof low);
    std::memcpy(&pack.high, first + half, sizeof high);
    return pack;
  }
  void store(T* first) const {
    std::memcpy(first, &low, sizeof low);
    std::memcpy(first + half, &high, sizeof high);
  }

  friend Pack operator+(const Pack& a, const Pack& b) { return {a.low + b.low, a.high + b.high}; }
  friend Pack operator-(const Pack& a, const Pack& b) { return {a.low - b.low, a.high - b.high}; }
  friend Pack operator*(const Pack& a, const Pack& b) { return {a.low * b.low, a.high * b.high}; }
  friend Pack operator/(const Pack& a, const Pack& b) { return {a.low / b.low, a.high / b.high}; }
  Pack& operator+=(const Pack& other) { return *this = *this + other; }

  friend Pack fabs(const Pack& a) { return {magnitude(a.low), magnitude(a.high)}; }
  friend Pack lower(const Pack& a, const Pack& b) {
    return {a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
  }
  friend Pack higher(const Pack& a, const Pack& b) {
    return {a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using BitVector [[gnu::vector_size(16)]] = Bits;

  static Vector all(T value) {
    if constexpr (half == 4) {
      return Vector{value, value, value, value};
    } else {
      return Vector{value, value};
    }
  }

  static Vector magnitude(Vector values) {
    constexpr Bits sign = std::numeric_limits<Bits>::min();
    return std::bit_cast<Vector>(std::bit_cast<BitVector>(values) & ~sign);
  }
};

/// A pack of values that stand `step` apart. Between every second one it loads what is not its own,
/// and drops it: other threads may be writing there.
template <class T, class Step>
[[gnu::always_inline]] inline Pack<T> load_strided(const T* first, Step step) {
  constexpr std::size_t half = Pack<T>::half;
  if constexpr (std::is_same_v<Step, std::integral_constant<std::ptrdiff_t, 1>>) {
    return Pack<T>::load(first);
  } else if constexpr (std::is_same_v<Step, std::integral_constant<std::ptrdiff_t, 2>>) {
    const auto every_second = [](const T* at) {
      typename Pack<T>::Vector a;
      typename Pack<T>::Vector b;
      std::memcpy(&a, at, sizeof a);
      std::memcpy(&b, at + half - 1, sizeof b);
      if constexpr (half == 4) {
        return __builtin_shufflevector(a, b, 0, 2, 5, 7);
      } else {
        return __builtin_shufflevector(a, b, 0, 3);
      }
    };
    return {every_second(first), every_second(first + 2 * half)};
  } else {
    const auto gather = [&](const T* at) {
      if constexpr (half == 4) {
        return typename Pack<T>::Vector{at[0], at[step], at[2 * step], at[3 * step]};
      } else {
        return typename Pack<T>::Vector{at[0], at[step]};
      }
    };
    return {gather(first), gather(first + static_cast<std::ptrdiff_t>(half) * step)};
  }
}

/// Reads packs of values that stand `step` apart.
template <class T, class Step>
class PackPointer {
 public:
  PackPointer(const T* first, Step step) : first_(first), step_(step) {}

  [[gnu::always_inline]] Pack<T> operator[](std::ptrdiff_t offset) const {
    return load_strided(first_ + offset, step_);
  }
  Pack<T> operator*() const { return (*this)[0]; }

  PackPointer& operator+=(std::ptrdiff_t offset) {
    first_ += offset;
    return *this;
  }
  PackPointer& operator-=(std::ptrdiff_t offset) { return *this += -offset; }

 private:
  const T* first_;
  [[no_unique_address]] Step step_;
};

}  // namespace cuszi::cpu
