#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/frame.hpp"
#include "core/frame_slot.hpp"
#include "core/quantizer.hpp"

namespace cuszi::cpu {

/// Memory that grows as needed and is not initialised: what is never written takes none.
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

/// Memory that a backend keeps from one frame to the next.
struct Workspace {
  FrameSlot slot;
  GrowingMemory<QuantCode> codes;        ///< of the points of all passes
  GrowingMemory<std::uint8_t> contexts;  ///< of the same
};

/// A section and its bytes.
struct OwnedSection {
  SectionId id;
  std::vector<std::byte> bytes;
};

/// Keeps the bytes of sections.
class SectionStore {
 public:
  /// Adds a section unless it is empty.
  void keep(OwnedSection section, Sections& out);

 private:
  std::deque<std::vector<std::byte>> kept_;
};

}  // namespace cuszi::cpu
