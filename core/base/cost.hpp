#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

/// Units of 2^-16 bits: integers, so that every backend decides alike.
using Cost = std::uint64_t;
inline constexpr int cost_bits = 16;

inline constexpr int log2_mantissa_bits = 12;

/// log2(1 + mantissa / 2^12) in units of 2^-cost_bits, by repeated squaring of integers.
CUSZI_HD constexpr std::uint32_t log2_of_mantissa(std::uint32_t mantissa) {
  std::uint64_t x = ((std::uint64_t{1} << log2_mantissa_bits) + mantissa)
                    << (30 - log2_mantissa_bits);
  std::uint32_t log = 0;
  for (int bit = 0; bit < cost_bits; ++bit) {
    x = (x * x) >> 30;
    log <<= 1;
    if (x >= (std::uint64_t{2} << 30)) {
      x >>= 1;
      log |= 1;
    }
  }
  return log;
}

extern const std::array<std::uint32_t, std::size_t{1} << log2_mantissa_bits> log2_table;

/// log2(x) for x > 0, in units of 2^-cost_bits, from the 12 bits below the leading one.
CUSZI_HD inline std::uint32_t log2_of(std::uint64_t x) {
  const int exponent = static_cast<int>(bit_width_of(x)) - 1;
  const std::uint64_t aligned = exponent >= log2_mantissa_bits
                                    ? x >> (exponent - log2_mantissa_bits)
                                    : x << (log2_mantissa_bits - exponent);
  const auto mantissa =
      static_cast<std::uint32_t>(aligned & ((std::uint64_t{1} << log2_mantissa_bits) - 1));
#if defined(__CUDA_ARCH__)
  const std::uint32_t log = log2_of_mantissa(mantissa);
#else
  const std::uint32_t log = log2_table[mantissa];
#endif
  return (static_cast<std::uint32_t>(exponent) << cost_bits) + log;
}

}  // namespace cuszi
