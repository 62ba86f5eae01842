#include "tests/support/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cuszi::test {

namespace {

/// An integer in two's complement, wide enough for sums of all doubles times 2^1074.
class WideInteger {
 public:
  void add(double term) {
    const auto bits = std::bit_cast<std::uint64_t>(std::fabs(term));
    const std::uint64_t exponent = bits >> 52;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
    const std::uint64_t shift = exponent == 0 ? 0 : exponent - 1;
    const std::uint64_t low = mantissa << (shift % 64);
    const std::uint64_t high = shift % 64 == 0 ? 0 : mantissa >> (64 - shift % 64);
    const auto at = static_cast<std::size_t>(shift / 64);
    if (std::signbit(term)) {
      subtract_word(at, low);
      subtract_word(at + 1, high);
    } else {
      add_word(at, low);
      add_word(at + 1, high);
    }
  }

  int sign() const {
    if ((words_.back() >> 63) != 0) return -1;
    const bool zero =
        std::all_of(words_.begin(), words_.end(), [](auto word) { return word == 0; });
    return zero ? 0 : 1;
  }

 private:
  void add_word(std::size_t at, std::uint64_t word) {
    for (; word != 0 && at < words_.size(); ++at) {
      words_[at] += word;
      word = words_[at] < word ? 1 : 0;
    }
  }

  void subtract_word(std::size_t at, std::uint64_t word) {
    for (; word != 0 && at < words_.size(); ++at) {
      const bool borrow = words_[at] < word;
      words_[at] -= word;
      word = borrow ? 1 : 0;
    }
  }

  std::array<std::uint64_t, 34> words_{};
};

}  // namespace

int sign_of_sum(std::span<const double> terms) {
  WideInteger sum;
  for (const double term : terms) sum.add(term);
  return sum.sign();
}

}  // namespace cuszi::test
