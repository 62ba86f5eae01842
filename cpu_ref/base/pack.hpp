#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

/// One or two vector registers of values, with element-wise operations.
template <class T, class V = PortableVectors>
class Pack {
 public:
  using Value = T;
  using Vector [[gnu::vector_size(V::register_bytes)]] = T;
  static constexpr std::size_t size = V::bytes / sizeof(T);
  static constexpr std::size_t registers = V::bytes / V::register_bytes;
  static constexpr std::size_t lanes = size / registers;  ///< values of a register

  Pack() = default;
  /// Not trivial, so that packs are passed in memory under every target's ABI.
  [[gnu::always_inline]] Pack(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) vectors_[i] = other.vectors_[i];
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
  [[gnu::always_inline]] Pack& operator=(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) vectors_[i] = other.vectors_[i];
    return *this;
  }
  /// Broadcast; implicit, so that formulas for packs read like scalar ones.
  [[gnu::always_inline]] Pack(T value) {
    for (std::size_t i = 0; i < registers; ++i) set(i, Vector{} + value);
  }

  [[gnu::always_inline]] static Pack load(const T* first) {
    Pack pack;
    std::memcpy(pack.vectors_, first, sizeof pack.vectors_);
    return pack;
  }
  [[gnu::always_inline]] void store(T* first) const {
    std::memcpy(first, vectors_, sizeof vectors_);
  }

  [[gnu::always_inline]] const Vector& at(std::size_t i) const { return vectors_[i]; }
  [[gnu::always_inline]] void set(std::size_t i, const Vector& vector) { vectors_[i] = vector; }

  [[gnu::always_inline]] Pack& operator+=(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) set(i, at(i) + other.at(i));
    return *this;
  }
  [[gnu::always_inline]] Pack& operator-=(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) set(i, at(i) - other.at(i));
    return *this;
  }
  [[gnu::always_inline]] Pack& operator*=(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) set(i, at(i) * other.at(i));
    return *this;
  }
  [[gnu::always_inline]] Pack& operator/=(const Pack& other) {
    for (std::size_t i = 0; i < registers; ++i) set(i, at(i) / other.at(i));
    return *this;
  }

  [[gnu::always_inline]] friend Pack operator+(Pack a, const Pack& b) { return a += b; }
  [[gnu::always_inline]] friend Pack operator-(Pack a, const Pack& b) { return a -= b; }
  [[gnu::always_inline]] friend Pack operator*(Pack a, const Pack& b) { return a *= b; }
  [[gnu::always_inline]] friend Pack operator/(Pack a, const Pack& b) { return a /= b; }

  [[gnu::always_inline]] friend Pack fabs(Pack a) {
    constexpr Bits sign = std::numeric_limits<Bits>::min();
    for (std::size_t i = 0; i < registers; ++i) {
      a.set(i, std::bit_cast<Vector>(std::bit_cast<BitVector>(a.at(i)) & ~sign));
    }
    return a;
  }
  [[gnu::always_inline]] friend Pack lower(Pack a, const Pack& b) {
    for (std::size_t i = 0; i < registers; ++i) a.set(i, a.at(i) < b.at(i) ? a.at(i) : b.at(i));
    return a;
  }
  [[gnu::always_inline]] friend Pack higher(Pack a, const Pack& b) {
    for (std::size_t i = 0; i < registers; ++i) a.set(i, a.at(i) > b.at(i) ? a.at(i) : b.at(i));
    return a;
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using BitVector [[gnu::vector_size(V::register_bytes)]] = Bits;

  Vector vectors_[registers];
};

/// Calls work(std::type_identity<P>{}) with the widest pack that `count` points fill, else the
/// narrowest.
template <class T, class V, class Work>
void with_packs(std::size_t count, const Work& work) {
  using Narrow = Pack<T, Vectors<PortableVectors::doubles, V::has_fma>>;
  using Wide = Pack<T, V>;
  if constexpr (Wide::size != Narrow::size) {
    if (count >= Wide::size) return work(std::type_identity<Wide>{});
  }
  work(std::type_identity<Narrow>{});
}

/// A compile-time stride in values.
template <std::ptrdiff_t step>
using FixedStep = std::integral_constant<std::ptrdiff_t, step>;

template <class Step>
inline constexpr std::ptrdiff_t fixed_step = 0;  ///< 0: not fixed
template <std::ptrdiff_t step>
inline constexpr std::ptrdiff_t fixed_step<FixedStep<step>> = step;

/// Loads only addresses of its own values: other threads may write those between them.
template <class P, class Step, std::size_t... lanes>
[[gnu::always_inline]] inline typename P::Vector strided_register(
    const typename P::Value* first, Step step, const std::index_sequence<lanes...>& sequence) {
  using Vector = typename P::Vector;
  if constexpr (fixed_step<Step> == 1) {
    Vector vector;
    std::memcpy(&vector, first, sizeof vector);
    return vector;
  } else if constexpr (fixed_step<Step> == 2 || fixed_step<Step> == 4) {
    constexpr FixedStep<fixed_step<Step> / 2> half_step{};
    constexpr std::size_t half = P::lanes / 2;
    constexpr std::ptrdiff_t to_last = static_cast<std::ptrdiff_t>(P::lanes - 1) * half_step;
    const Vector a = strided_register<P>(first, half_step, sequence);
    const Vector b = strided_register<P>(first + to_last, half_step, sequence);
    return __builtin_shufflevector(a, b, (lanes < half ? 2 * lanes : 1 + 2 * lanes)...);
  } else {
    return Vector{first[static_cast<std::ptrdiff_t>(lanes) * step]...};
  }
}

template <class P, class Step>
[[gnu::always_inline]] inline P load_strided(const typename P::Value* first, Step step) {
  P pack;
  for (std::size_t i = 0; i < P::registers; ++i) {
    pack.set(i, strided_register<P>(first + static_cast<std::ptrdiff_t>(i * P::lanes) * step, step,
                                    std::make_index_sequence<P::lanes>{}));
  }
  return pack;
}

/// The remaining lanes are 0.
template <class P, class Step>
[[gnu::always_inline]] inline P load_strided(const typename P::Value* first, Step step,
                                             std::size_t count) {
  typename P::Value values[P::size] = {};
  for (std::size_t i = 0; i < count; ++i) values[i] = first[static_cast<std::ptrdiff_t>(i) * step];
  return P::load(values);
}

template <class P, class Step>
class PackPointer {
 public:
  PackPointer(const typename P::Value* first, Step step) : first_(first), step_(step) {}

  [[gnu::always_inline]] P operator[](std::ptrdiff_t offset) const {
    return load_strided<P>(first_ + offset, step_);
  }
  [[gnu::always_inline]] P operator*() const { return (*this)[0]; }

  PackPointer& operator+=(std::ptrdiff_t offset) {
    first_ += offset;
    return *this;
  }
  PackPointer& operator-=(std::ptrdiff_t offset) { return *this += -offset; }

 private:
  const typename P::Value* first_;
  [[no_unique_address]] Step step_;
};

}  // namespace cuszi::cpu
