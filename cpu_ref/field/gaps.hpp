#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi::cpu {

/// Missing points have no codes.
class Gaps {
 public:
  Gaps() = default;
  /// For passes over the frame in raster order.
  explicit Gaps(const Mask& mask)
      : mask_(mask.any() ? &mask : nullptr), count_(static_cast<std::size_t>(mask.count)) {}
  /// `missing` has a 1 at each missing point.
  explicit Gaps(std::vector<std::uint8_t> missing)
      : missing_(std::move(missing)),
        count_(static_cast<std::size_t>(std::count(missing_.begin(), missing_.end(), 1))) {}

  std::size_t count() const { return count_; }

  /// Moves the entries of valid points to the front.
  template <class T>
  std::span<T> close(std::span<T> entries) const {
    if (count_ == 0) return entries;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[kept] = entries[i];
      kept += is_gap(i) ? 0 : 1;
    }
    return entries.first(kept);
  }

  /// Inverse of close(); codes of missing points are unspecified.
  void open(std::span<QuantCode> entries) const {
    if (count_ == 0) return;
    std::size_t kept = entries.size() - count_;
    for (std::size_t i = entries.size(); i-- > 0;) {
      if (!is_gap(i)) entries[i] = entries[--kept];
    }
  }

 private:
  bool is_gap(std::size_t i) const { return mask_ != nullptr ? (*mask_)(i) : missing_[i] != 0; }

  const Mask* mask_ = nullptr;
  std::vector<std::uint8_t> missing_;
  std::size_t count_ = 0;
};

}  // namespace cuszi::cpu
