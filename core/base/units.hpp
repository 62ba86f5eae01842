#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/hd.hpp"

namespace cuszi {

using ByteCount = std::uint64_t;
using BitCount = std::uint64_t;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

CUSZI_HD constexpr std::uint64_t ceil_div(std::uint64_t numerator, std::uint64_t denominator) {
  return numerator / denominator + (numerator % denominator != 0 ? 1 : 0);
}

}  // namespace cuszi
