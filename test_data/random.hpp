#pragma once

#include <cstddef>
#include <cstdint>

namespace cuszi::test {

/// splitmix64: the same numbers on every machine, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t h = state_ += 0x9E3779B97F4A7C15U;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
    return h ^ (h >> 31);
  }

  /// A number in [0, limit).
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

  /// A number in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  bool one_in(std::uint64_t n) { return below(n) == 0; }

  template <class T, std::size_t n>
  T pick(const T (&choices)[n]) {
    return choices[below(n)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace cuszi::test
