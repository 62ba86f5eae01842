#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/frame.hpp"
#include "core/frame_slot.hpp"
#include "core/quantizer.hpp"

namespace cuszi::cpu {

/// Memory that a backend keeps from one frame to the next.
struct Workspace {
  FrameSlot slot;
  std::vector<QuantCode> codes;        ///< of the points of all passes
  std::vector<std::uint8_t> contexts;  ///< of the same
};

/// The first `count` values of memory that grows as needed.
template <class T>
std::span<T> first_of(std::vector<T>& memory, std::size_t count) {
  if (memory.size() < count) memory.resize(count);
  return std::span(memory).first(count);
}

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
