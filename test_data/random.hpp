#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cuszi::test {

/// splitmix64: the same numbers on every machine, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Every number follows from two of the bytes as long as there are any: a fuzzer that changes a
  /// byte changes one choice. The bytes must stay valid.
  explicit Random(std::span<const std::byte> choices) : choices_(choices) {}

  std::uint64_t next() {
    std::uint64_t h = choices_.empty() ? state_ += step : choice() * step;
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

  /// The bytes that have not been used yet.
  std::span<const std::byte> rest() const { return choices_; }

 private:
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;

  std::uint64_t choice() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 2 && !choices_.empty(); ++i) {
      number = number << 8 | std::to_integer<std::uint64_t>(choices_.front());
      choices_ = choices_.subspan(1);
    }
    return number;
  }

  std::uint64_t state_ = 0;
  std::span<const std::byte> choices_;
};

}  // namespace cuszi::test
