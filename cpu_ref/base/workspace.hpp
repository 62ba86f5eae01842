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

struct Workspace {
  FrameSlot slot;
  GrowingMemory<QuantCode> codes;        ///< all passes
  GrowingMemory<std::uint8_t> contexts;  ///< all passes
};

struct OwnedSection {
  SectionId id;
  std::vector<std::byte> bytes;
};

class SectionStore {
 public:
  /// Ignores empty sections.
  void keep(SectionId id, std::vector<std::byte>&& bytes, Sections& out) {
    if (bytes.empty()) return;
    kept_.push_back(std::move(bytes));
    out.add(id, kept_.back());
  }

 private:
  std::deque<std::vector<std::byte>> kept_;
};

}  // namespace cuszi::cpu
