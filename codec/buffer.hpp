#pragma once

#include <memory>

#include "core/units.hpp"

namespace cuszi {

/// Memory for values, aligned for every dtype and not initialised: pages that are never written
/// cost nothing.
class Buffer {
 public:
  /// Makes room for `size` bytes; what it held is lost if it has to grow.
  MutableBytes resize(ByteCount size) {
    if (size > capacity_) {
      bytes_.reset();
      capacity_ = 0;
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
      capacity_ = size;
    }
    size_ = size;
    return view();
  }

  MutableBytes view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  ByteCount capacity_ = 0;
  ByteCount size_ = 0;
};

}  // namespace cuszi
