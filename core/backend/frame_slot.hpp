#pragma once

#include <stdexcept>

namespace cuszi {

/// A backend's place for the one frame that it can have in work.
class FrameSlot {
 public:
  FrameSlot() = default;
  FrameSlot(const FrameSlot&) = delete;
  FrameSlot& operator=(const FrameSlot&) = delete;

 private:
  friend class FrameInSlot;
  bool is_taken_ = false;
};

/// A frame in work, from the constructor to the destructor. Throws std::logic_error if the slot is
/// taken: the caller has kept a session too long.
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
