#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace cuszi::cpu {

/// As many values as are worked on side by side; every operation is that of each value alone.
template <class T>
struct Pack {
  static constexpr std::size_t size = 8;

  std::array<T, size> lanes;

  Pack() = default;
  /// All lanes alike; implicit, so that a formula reads like that of one value.
  Pack(T value) { lanes.fill(value); }

  friend Pack operator+(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x + y; });
  }
  friend Pack operator-(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x - y; });
  }
  friend Pack operator*(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x * y; });
  }
  friend Pack operator/(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x / y; });
  }
  Pack& operator+=(const Pack& other) { return *this = *this + other; }

  friend Pack fabs(const Pack& a) {
    return of(a, a, [](T x, T) { return std::fabs(x); });
  }
  friend Pack lower(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x < y ? x : y; });
  }
  friend Pack higher(const Pack& a, const Pack& b) {
    return of(a, b, [](T x, T y) { return x > y ? x : y; });
  }

 private:
  template <class Operation>
  static Pack of(const Pack& a, const Pack& b, const Operation& operation) {
    Pack result;
    for (std::size_t i = 0; i < size; ++i) result.lanes[i] = operation(a.lanes[i], b.lanes[i]);
    return result;
  }
};

/// Reads packs of values that stand `step` apart.
template <class T>
class PackPointer {
 public:
  PackPointer(const T* first, std::ptrdiff_t step) : first_(first), step_(step) {}

  Pack<T> operator[](std::ptrdiff_t offset) const {
    Pack<T> pack;
    const T* at = first_ + offset;
    for (T& lane : pack.lanes) {
      lane = *at;
      at += step_;
    }
    return pack;
  }
  Pack<T> operator*() const { return (*this)[0]; }

  PackPointer& operator+=(std::ptrdiff_t offset) {
    first_ += offset;
    return *this;
  }
  PackPointer& operator-=(std::ptrdiff_t offset) { return *this += -offset; }

 private:
  const T* first_;
  std::ptrdiff_t step_;
};

}  // namespace cuszi::cpu
