#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/backend/frame_slot.hpp"
#include "core/base/growing_memory.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi::cpu {

/// Memory that a backend keeps from one frame to the next.
struct Workspace {
  FrameSlot slot;
  GrowingMemory<QuantCode> codes;        ///< of the points of all passes
  GrowingMemory<std::uint8_t> contexts;  ///< of the points of all passes
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
  void keep(SectionId id, std::vector<std::byte>&& bytes, Sections& out) {
    if (bytes.empty()) return;
    kept_.push_back(std::move(bytes));
    out.add(id, kept_.back());
  }

 private:
  std::deque<std::vector<std::byte>> kept_;
};

}  // namespace cuszi::cpu
