#pragma once

#include <limits>
#include <utility>

#include "core/multilevel/code_position.hpp"

namespace cuszi::cpu {

/// Division of numbers below 2^32 by a fixed divisor, by a multiplication.
class Divider {
 public:
  Divider() = default;
  explicit Divider(std::uint32_t divisor)
      : inverse_(std::numeric_limits<std::uint64_t>::max() / divisor + 1), divisor_(divisor) {}

  /// Returns the quotient and leaves the remainder in `number`.
  std::uint64_t split(std::uint64_t& number) const {
    if (divisor_ == 1) return std::exchange(number, 0);
    __extension__ using Wide = unsigned __int128;
    const auto quotient = static_cast<std::uint64_t>((Wide{inverse_} * number) >> 64);
    number -= quotient * divisor_;
    return quotient;
  }

 private:
  std::uint64_t inverse_ = 0;  ///< ceil(2^64 / divisor)
  std::uint32_t divisor_ = 1;
};

/// raster_point() of core, without divisions if the count fits 32 bits.
class Raster {
 public:
  explicit Raster(const Index4& count) : count_(count) {
    is_small_ =
        count[0] * count[1] * count[2] * count[3] <= std::numeric_limits<std::uint32_t>::max();
    for (unsigned axis = 0; axis < max_axes && is_small_; ++axis) {
      divide_by_[axis] = Divider(static_cast<std::uint32_t>(count[axis]));
    }
  }

  Index4 operator()(std::uint64_t i) const {
    Index4 j{};
    for (unsigned axis = max_axes; axis-- > 1;) {
      j[axis] = i;
      if (is_small_) {
        i = divide_by_[axis].split(j[axis]);
      } else {
        i /= count_[axis];
        j[axis] -= i * count_[axis];
      }
    }
    j[0] = i;
    return j;
  }

 private:
  Index4 count_;
  bool is_small_;
  std::array<Divider, max_axes> divide_by_{};
};

}  // namespace cuszi::cpu
