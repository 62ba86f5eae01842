#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi::gpu {

/// Order-preserving integers for atomics; 0 is below all numbers.
CUSZI_HD inline std::uint64_t in_order(double value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
CUSZI_HD inline double from_order(std::uint64_t number) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((number & sign) != 0 ? number ^ sign : ~number);
}

/// Minimum and maximum by atomics; empty if zeroed.
class SharedExtremes {
 public:
  /// By a single thread; overwrites.
  __device__ void set(bool any, double min, double max) {
    least_ = any ? ~in_order(min) : 0;
    largest_ = any ? in_order(max) : 0;
  }
  __device__ void include(double min, double max) {
    raise(least_, ~in_order(min));
    raise(largest_, in_order(max));
  }

  void include(const SharedExtremes& other) {
    least_ = std::max(least_, other.least_);
    largest_ = std::max(largest_, other.largest_);
  }

  CUSZI_HD bool any() const { return largest_ != 0; }
  CUSZI_HD double min() const { return from_order(~least_); }
  CUSZI_HD double max() const { return from_order(largest_); }

 private:
  /// Reads first, because few threads extend the range.
  __device__ static void raise(std::uint64_t& total, std::uint64_t value) {
    if (value > *static_cast<volatile std::uint64_t*>(&total))
      atomicMax(reinterpret_cast<unsigned long long*>(&total), value);
  }

  std::uint64_t least_;  ///< in_order(), never 0
  std::uint64_t largest_;
};

}  // namespace cuszi::gpu
