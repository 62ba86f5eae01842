#pragma once

#include <stdexcept>

#include "core/base/unmovable.hpp"

namespace cuszi {

/// The single frame of a backend.
class FrameSlot : Unmovable {
 public:
 private:
  friend class FrameInSlot;
  bool is_taken_ = false;
};

/// Throws std::logic_error if the slot is taken: a session was kept too long.
class FrameInSlot : Unmovable {
 public:
  explicit FrameInSlot(FrameSlot& slot) : slot_(slot) {
    if (slot.is_taken_) throw std::logic_error("the backend has another frame in work");
    slot.is_taken_ = true;
  }
  ~FrameInSlot() { slot_.is_taken_ = false; }

 private:
  FrameSlot& slot_;
};

}  // namespace cuszi
