#pragma once

#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/zfp/zfp.hpp"

namespace cuszi {

/// Blocks of 4 values along each axis. Axes and blocks are fastest first.
struct ZfpGrid {
  int rank = 1;
  std::uint64_t extents[Dims::max_rank] = {1, 1, 1, 1};
  std::uint64_t strides[Dims::max_rank] = {1, 1, 1, 1};  ///< in values
  std::uint64_t blocks[Dims::max_rank] = {1, 1, 1, 1};

  ZfpGrid() = default;
  explicit ZfpGrid(const Dims& dims) : rank(dims.rank()) {
    std::uint64_t stride = 1;
    for (int axis = 0; axis < rank; ++axis) {
      extents[axis] = dims[rank - 1 - axis];
      strides[axis] = stride;
      blocks[axis] = ceil_div(extents[axis], 4);
      stride *= extents[axis];
    }
  }

  CUSZI_HD std::uint64_t count() const { return blocks[0] * blocks[1] * blocks[2] * blocks[3]; }
};

inline std::uint64_t zfp_blocks(const Dims& dims) { return ZfpGrid(dims).count(); }

/// A block's first value and its extents in the field.
template <int rank>
struct ZfpPlace {
  std::uint64_t first = 0;
  unsigned extents[rank];
  bool is_whole = true;

  CUSZI_HD ZfpPlace(const ZfpGrid& grid, std::uint64_t block) {
    CUSZI_UNROLL
    for (int axis = 0; axis < rank; ++axis) {
      const std::uint64_t at = (axis + 1 < rank ? block % grid.blocks[axis] : block) * 4;
      block /= grid.blocks[axis];
      const std::uint64_t rest = grid.extents[axis] - at;
      extents[axis] = rest < 4 ? static_cast<unsigned>(rest) : 4;
      is_whole = is_whole && rest >= 4;
      first += at * grid.strides[axis];
    }
  }
};

/// Pads a partial line of `extent` values: repeats the last, and position 3 takes the first.
CUSZI_HD constexpr std::uint64_t zfp_padded(unsigned i, unsigned extent) {
  return i < extent ? i : (i == 3 ? 0 : extent - 1);
}

namespace zfp {

/// Calls row(position in the block, padded offset in the field, whether it is inside) for rows of
/// 4.
template <int rank, class Row>
CUSZI_HD inline void for_rows(const ZfpGrid& grid, const ZfpPlace<rank>& place, const Row& row) {
  for_each_of<zfp_block_values(rank) / 4, rank <= 3>([&](int i) {
    const auto r = static_cast<unsigned>(i);
    std::uint64_t offset = place.first;
    bool inside = true;
    CUSZI_UNROLL
    for (int axis = 1; axis < rank; ++axis) {
      const unsigned at = (r >> (2 * (axis - 1))) & 3;
      inside = inside && at < place.extents[axis];
      offset += zfp_padded(at, place.extents[axis]) * grid.strides[axis];
    }
    row(4 * r, offset, inside);
  });
}

}  // namespace zfp

/// Pads outside the field.
template <int rank, class T>
CUSZI_HD inline void gather_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, const T* field,
                                  T* block) {
  zfp::for_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset, bool) {
    CUSZI_UNROLL
    for (unsigned x = 0; x < 4; ++x)
      block[at + x] = field[offset + zfp_padded(x, place.extents[0])];
  });
}

/// Skips points outside the field.
template <int rank, class T>
CUSZI_HD inline void scatter_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, const T* block,
                                   T* field) {
  zfp::for_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset, bool inside) {
    if (!inside) return;
    CUSZI_UNROLL
    for (unsigned x = 0; x < 4; ++x) {
      if (x < place.extents[0]) field[offset + x] = block[at + x];
    }
  });
}

}  // namespace cuszi
