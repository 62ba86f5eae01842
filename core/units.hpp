#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cuszi {

using ByteCount = std::uint64_t;
using BitCount = std::uint64_t;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

template <class Int>
constexpr Int ceil_div(Int numerator, Int denominator) {
  return numerator / denominator + (numerator % denominator != 0 ? 1 : 0);
}

}  // namespace cuszi
