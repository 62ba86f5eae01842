#include "tests/support/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

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

namespace {

/// The significand's upper bits, those that stand before the lowest `bits`.
double without_low_bits(double value, unsigned bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) >> bits << bits);
}

/// Three numbers of at most 18 bits whose sum is `value`.
std::array<double, 3> thirds(double value) {
  const double first = without_low_bits(value, 35);
  const double second = without_low_bits(value - first, 35);
  return {first, second, value - first - second};
}

}  // namespace

int sign_of_sum(std::span<const double> terms) {
  WideInteger sum;
  for (const double term : terms) sum.add(term);
  return sum.sign();
}

bool differ_by_at_most_share(double a, double b, double share) {
  if (a == 0 || b == 0) return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  if (std::signbit(a) != std::signbit(b)) return false;
  const int exponent = std::ilogb(a);  // of 1 to 2, products of parts are exact
  const double was = std::scalbn(std::fabs(a), -exponent);
  const double now = std::scalbn(std::fabs(b), -exponent);
  std::vector<double> above{was, -now};
  std::vector<double> below{now, -was};
  for (const double part : thirds(was)) {
    for (const double of_share : thirds(share)) {
      above.push_back(-part * of_share);
      below.push_back(-part * of_share);
    }
  }
  return sign_of_sum(above) <= 0 && sign_of_sum(below) <= 0;
}

}  // namespace cuszi::test
