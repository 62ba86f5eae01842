#pragma once

// C++20 that the project uses and libc++ 13, which Debian 12 has for emscripten, lacks. The build
// includes this header before every source.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t count) {
  return unique_ptr<Array>(new remove_extent_t<Array>[count]);
}

/// There is one thread.
template <class T>
struct atomic_ref {
  T& value;

  explicit atomic_ref(T& of) : value(of) {}
  void fetch_or(T bits, memory_order /*order*/) { value |= bits; }
};

namespace ranges {

template <class Range, class Test>
bool all_of(const Range& range, const Test& test) {
  return std::all_of(range.begin(), range.end(), test);
}

template <class Range, class Out>
Out copy(const Range& range, Out out) {
  return std::copy(range.begin(), range.end(), out);
}

template <class One, class Other>
bool equal(const One& one, const Other& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

template <class Range, class Value>
void fill(Range&& range, const Value& value) {
  std::fill(range.begin(), range.end(), value);
}

template <class Range, class Less = std::less<>, class Projection>
auto max(const Range& range, Less /*less*/, const Projection& of) {
  return *std::max_element(range.begin(), range.end(), [&](const auto& one, const auto& other) {
    return std::invoke(of, one) < std::invoke(of, other);
  });
}

template <class Range>
void reverse(Range&& range) {
  std::reverse(range.begin(), range.end());
}

template <class Range, class Value>
auto upper_bound(Range&& range, const Value& value) {
  return std::upper_bound(range.begin(), range.end(), value);
}

}  // namespace ranges
}  // namespace std

#endif
