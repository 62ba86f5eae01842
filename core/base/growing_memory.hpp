#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/host_array.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Uninitialised memory that grows on demand, aligned for every dtype.
template <class T>
class GrowingMemory {
 public:
  /// Returns `count` values; growing discards the contents.
  std::span<T> first(std::size_t count) {
    if (size_ < count) {
      values_.reset();
      size_ = 0;
      values_ = make_host_array<T>(count);
      size_ = count;
    }
    return std::span(values_.get(), count);
  }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

class Buffer {
 public:
  MutableBytes resize(ByteCount size) { return view_ = memory_.first(size); }

  MutableBytes view() const { return view_; }

 private:
  GrowingMemory<std::byte> memory_;
  MutableBytes view_;
};

}  // namespace cuszi
