#pragma once

#include <cstddef>
#include <vector>

#include "core/base/units.hpp"
#include "core/cells/chain.hpp"
#include "core/cells/tables.hpp"
#include "core/cells/weights.hpp"

namespace cuszi {

/// What stands in the section `codebook` of the first pass.
struct CellsHead {
  CellsWeights weights;
  std::uint32_t blocks_of_lane = fewest_blocks_of_lane;
  CellsTables tables;

  std::vector<std::byte> write(int rank) const;
  /// Throws ArchiveError.
  static CellsHead read(Bytes bytes, int rank);
};

}  // namespace cuszi
