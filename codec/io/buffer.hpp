#pragma once

#include "core/base/growing_memory.hpp"
#include "core/base/units.hpp"

namespace cuszi {

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
