#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/units.hpp"

namespace cuszi {

/// Memory that grows as needed, aligned for every dtype and not initialised: pages that are never
/// written cost nothing.
template <class T>
class GrowingMemory {
 public:
  /// Room for `count` values; what it held is lost if it has to grow.
  std::span<T> first(std::size_t count) {
    if (size_ < count) {
      values_.reset();
      size_ = 0;
      values_ = std::make_unique_for_overwrite<T[]>(count);
      size_ = count;
    }
    return std::span(values_.get(), count);
  }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

/// Growing memory for values, and how much of it they take.
class Buffer {
 public:
  /// Makes room for `size` bytes; what it held is lost if it has to grow.
  MutableBytes resize(ByteCount size) { return view_ = memory_.first(size); }

  MutableBytes view() const { return view_; }

 private:
  GrowingMemory<std::byte> memory_;
  MutableBytes view_;
};

}  // namespace cuszi
