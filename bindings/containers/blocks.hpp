#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi {

/// A block of a variable: the indices from `first` on, `count` of them along each axis.
struct Block {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> count;

  std::uint64_t values() const;
};

/// Extents for chunks of a variable that has none, or tiny ones: whole slices of its slow axes, as
/// many as make 8 MiB, of even heights.
std::vector<std::uint64_t> chunk_for(std::span<const std::uint64_t> extents, ByteCount value_bytes);

/// The chunks of a variable in a copy: its own if they hold 1 MiB or the whole variable.
std::vector<std::uint64_t> chunk_in_copy(std::span<const std::uint64_t> extents,
                                         std::span<const std::uint64_t> chunk,
                                         ByteCount value_bytes);

/// Calls `use` with blocks that make up a variable, each of whole chunks, and of many small ones.
void for_each_block(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk,
                    ByteCount value_bytes, const std::function<void(const Block&)>& use);

}  // namespace cuszi
