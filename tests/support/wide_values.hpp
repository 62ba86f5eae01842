#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "test_data/random.hpp"

namespace cuszi::test {

/// Which signs values have.
enum class Signs { positive, negative, mixed };

/// Values of all magnitudes of the type, in runs that grow slowly; zeros of both signs and the
/// least subnormal number among them.
template <class T>
std::vector<T> wide_values(std::size_t count, Signs signs, std::uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  Random random(seed);
  std::vector<T> values(count);
  T last = 1;
  const auto any_magnitude = [&] {
    const std::uint64_t binades = Limits::max_exponent - Limits::min_exponent + Limits::digits;
    const int exponent = Limits::max_exponent - 1 - static_cast<int>(random.below(binades));
    return std::ldexp(static_cast<T>(1 + random.uniform() / 2), exponent);
  };
  for (T& value : values) {
    if (random.one_in(50)) last = any_magnitude();
    last *= static_cast<T>(1 + random.uniform() / 1000);
    if (!std::isfinite(last) || last == 0) last = 1;
    value = random.one_in(60) ? T{0} : random.one_in(60) ? Limits::denorm_min() : last;
    const bool is_negative =
        signs == Signs::negative || (signs == Signs::mixed && random.one_in(3));
    if (is_negative) value = -value;
  }
  return values;
}

}  // namespace cuszi::test
