#include "bindings/containers/blocks.hpp"

#include <algorithm>

#include "codec/files/container.hpp"

namespace cuszi {

namespace {

constexpr ByteCount new_chunk_bytes = 8 << 20;
constexpr ByteCount least_chunk_bytes = 1 << 20;
constexpr ByteCount block_bytes = 32 << 20;

constexpr std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

std::uint64_t Block::values() const { return product(count); }

std::vector<std::uint64_t> chunk_for(std::span<const std::uint64_t> extents,
                                     ByteCount value_bytes) {
  std::vector<std::uint64_t> chunk(extents.begin(), extents.end());
  if (product(chunk) == 0) return chunk;
  for (std::uint64_t& extent : chunk) {
    const ByteCount inner = value_bytes * product(chunk) / extent;
    const std::uint64_t most = std::max<std::uint64_t>(1, new_chunk_bytes / inner);
    if (most >= extent) break;
    extent = quotient_up(extent, quotient_up(extent, most));
  }
  return chunk;
}

std::vector<std::uint64_t> chunk_in_copy(std::span<const std::uint64_t> extents,
                                         std::span<const std::uint64_t> chunk,
                                         ByteCount value_bytes) {
  const bool whole = std::equal(extents.begin(), extents.end(), chunk.begin(), chunk.end());
  if (whole || (!chunk.empty() && value_bytes * product(chunk) >= least_chunk_bytes)) {
    return {chunk.begin(), chunk.end()};
  }
  return chunk_for(extents, value_bytes);
}

void for_each_block(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk,
                    ByteCount value_bytes, const std::function<void(const Block&)>& use) {
  if (product(extents) == 0) return;
  std::vector<std::uint64_t> step(chunk.begin(), chunk.end());
  for (std::size_t axis = step.size(); axis-- > 0;) {
    const ByteCount bytes = value_bytes * product(step);
    const std::uint64_t times = std::max<std::uint64_t>(1, block_bytes / bytes);
    step[axis] = std::min(extents[axis], step[axis] * times);
  }
  Block block{std::vector<std::uint64_t>(extents.size(), 0), {}};
  while (true) {
    block.count.clear();
    for (std::size_t axis = 0; axis < step.size(); ++axis) {
      block.count.push_back(std::min(step[axis], extents[axis] - block.first[axis]));
    }
    use(block);
    std::size_t axis = step.size();
    while (axis > 0 && block.first[axis - 1] + step[axis - 1] >= extents[axis - 1]) {
      block.first[--axis] = 0;
    }
    if (axis == 0) return;
    block.first[axis - 1] += step[axis - 1];
  }
}

}  // namespace cuszi
