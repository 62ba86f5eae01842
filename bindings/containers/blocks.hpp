#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi {

struct Block {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> count;

  std::uint64_t values() const;
};

/// About 8 MiB of whole slices of the slow axes, of even heights.
std::vector<std::uint64_t> chunk_for(std::span<const std::uint64_t> extents, ByteCount value_bytes);

/// Keeps chunks of 1 MiB or of the whole variable.
std::vector<std::uint64_t> chunk_in_copy(std::span<const std::uint64_t> extents,
                                         std::span<const std::uint64_t> chunk,
                                         ByteCount value_bytes);

/// Blocks of whole chunks cover the variable.
void for_each_block(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk,
                    ByteCount value_bytes, const std::function<void(const Block&)>& use);

}  // namespace cuszi
