#pragma once

#include <stdexcept>

namespace cuszi {

/// The single frame of a backend.
class FrameSlot {
 public:
  FrameSlot() = default;
  FrameSlot(const FrameSlot&) = delete;
  FrameSlot& operator=(const FrameSlot&) = delete;

 private:
  friend class FrameInSlot;
  bool is_taken_ = false;
};

/// Throws std::logic_error if the slot is taken: a session was kept too long.
class FrameInSlot {
 public:
  explicit FrameInSlot(FrameSlot& slot) : slot_(slot) {
    if (slot.is_taken_) throw std::logic_error("the backend has another frame in work");
    slot.is_taken_ = true;
  }
  FrameInSlot(const FrameInSlot&) = delete;
  FrameInSlot& operator=(const FrameInSlot&) = delete;
  ~FrameInSlot() { slot_.is_taken_ = false; }

 private:
  FrameSlot& slot_;
};

}  // namespace cuszi
