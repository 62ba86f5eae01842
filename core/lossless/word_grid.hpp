#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "core/lossless/word_tokens.hpp"

namespace cuszi {

/// A box of points of a frame.
struct WordBox {
  Extents3 first;
  Extents3 size;
};

/// A frame is cut into chunks, whose differences are independent, and each chunk into blocks of
/// cubes, squares or rows of 64 points. Chunks, blocks and points are in raster order; those at the
/// far faces may be cut off.
struct WordGrid {
  Extents3 extents;
  Extents3 chunk;  ///< multiples of those of a block
  Extents3 block;

  CUSZI_HD static constexpr Extents3 block_of_rank(int rank) {
    if (rank == 1) return {1, 1, word_block};
    return rank == 2 ? Extents3{1, 8, 8} : Extents3{4, 4, 4};
  }
  /// Chunks of up to 2^20 points, about equally long along an axis.
  static WordGrid of(const Extents3& extents) {
    const int rank = rank_of(extents);
    const std::uint64_t most = rank == 1 ? 1U << 18 : rank == 2 ? 1U << 9 : 96U;
    WordGrid grid{extents, {}, block_of_rank(rank)};
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const std::uint64_t length = ceil_div(extents[axis], ceil_div(extents[axis], most));
      grid.chunk[axis] = ceil_div(length, grid.block[axis]) * grid.block[axis];
    }
    return grid;
  }

  CUSZI_HD std::uint64_t chunks() const { return count_of(parts(extents, chunk)); }
  CUSZI_HD std::uint64_t blocks() const { return count_of(parts(extents, block)); }
  CUSZI_HD static Extents3 parts(const Extents3& whole, const Extents3& part) {
    return {ceil_div(whole[0], part[0]), ceil_div(whole[1], part[1]), ceil_div(whole[2], part[2])};
  }

  CUSZI_HD WordBox chunk_at(std::uint64_t number) const {
    const Extents3 along = parts(extents, chunk);
    const Extents3 at{number / (along[1] * along[2]), number / along[2] % along[1],
                      number % along[2]};
    WordBox box{};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      box.first[axis] = at[axis] * chunk[axis];
      box.size[axis] = std::min(chunk[axis], extents[axis] - box.first[axis]);
    }
    return box;
  }
  CUSZI_HD std::uint64_t points_before(const WordBox& box) const { return before(box, {1, 1, 1}); }
  CUSZI_HD std::uint64_t blocks_before(const WordBox& box) const { return before(box, block); }

 private:
  /// The parts of chunks before one.
  CUSZI_HD std::uint64_t before(const WordBox& box, const Extents3& part) const {
    const Extents3 all = parts(extents, part);
    const Extents3 own = parts(box.size, part);
    const Extents3 first = parts(box.first, part);
    return first[0] * all[1] * all[2] + own[0] * (first[1] * all[2] + own[1] * first[2]);
  }
};

/// Calls each(first, size) for the blocks of a box of this size.
template <class Each>
void for_each_block(const Extents3& size, const Extents3& block, const Each& each) {
  Extents3 at{};
  for (at[0] = 0; at[0] < size[0]; at[0] += block[0])
    for (at[1] = 0; at[1] < size[1]; at[1] += block[1])
      for (at[2] = 0; at[2] < size[2]; at[2] += block[2])
        each(at, Extents3{std::min(block[0], size[0] - at[0]), std::min(block[1], size[1] - at[1]),
                          std::min(block[2], size[2] - at[2])});
}

/// Calls row(offset, points) for the rows of a block.
template <class Row>
void for_each_row_of_block(const Extents3& box, const Extents3& first, const Extents3& size,
                           const Row& row) {
  for (std::uint64_t z = first[0]; z < first[0] + size[0]; ++z)
    for (std::uint64_t y = first[1]; y < first[1] + size[1]; ++y)
      row((z * box[1] + y) * box[2] + first[2], size[2]);
}

/// How often differences are taken along z, y, x.
using Orders = std::array<std::uint8_t, 3>;
inline constexpr std::uint8_t most_order = 2;

/// By what the words at distance 0, 1 and 2 are multiplied in a difference of an order.
CUSZI_HD constexpr int difference_factor(int order, int distance) {
  if (distance == 0) return 1;
  if (distance == 1) return -order;
  return order == 2 ? 1 : 0;
}

/// Differences modulo 2^digits along each axis, in place; 0 is before the first word.
template <class Word>
void take_differences(Word* words, const Extents3& size, const Orders& orders) {
  const std::uint64_t width = size[2];
  const std::uint64_t plane = size[1] * width;
  const auto subtract = [](Word* line, const Word* before, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) line[i] -= before[i];
  };
  for (int order = 0; order < orders[0]; ++order)
    for (std::uint64_t z = size[0]; z-- > 1;)
      subtract(words + z * plane, words + (z - 1) * plane, plane);
  for (std::uint64_t z = 0; z < size[0]; ++z)
    for (int order = 0; order < orders[1]; ++order)
      for (std::uint64_t y = size[1]; y-- > 1;)
        subtract(words + z * plane + y * width, words + z * plane + (y - 1) * width, width);
  for (Word* row = words; row < words + size[0] * plane; row += width)
    for (int order = 0; order < orders[2]; ++order)
      for (std::uint64_t x = width; x-- > 1;) row[x] -= row[x - 1];
}

/// Inverse of take_differences().
template <class Word>
void sum_differences(Word* words, const Extents3& size, const Orders& orders) {
  const std::uint64_t width = size[2];
  const std::uint64_t plane = size[1] * width;
  const auto add = [](Word* line, const Word* before, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) line[i] += before[i];
  };
  for (Word* row = words; row < words + size[0] * plane; row += width)
    for (int order = 0; order < orders[2]; ++order)
      for (std::uint64_t x = 1; x < width; ++x) row[x] += row[x - 1];
  for (std::uint64_t z = 0; z < size[0]; ++z)
    for (int order = 0; order < orders[1]; ++order)
      for (std::uint64_t y = 1; y < size[1]; ++y)
        add(words + z * plane + y * width, words + z * plane + (y - 1) * width, width);
  for (int order = 0; order < orders[0]; ++order)
    for (std::uint64_t z = 1; z < size[0]; ++z)
      add(words + z * plane, words + (z - 1) * plane, plane);
}

}  // namespace cuszi
