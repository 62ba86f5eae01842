#pragma once

#include "gpu/cells/chains.cuh"
#include "gpu/field/ranked_bits.cuh"

namespace cuszi::gpu {

/// The blocks of a frame that have codes.
struct LiveBlocks {
  std::uint64_t* masks;    ///< [tile]: bit i is block i
  std::uint32_t* numbers;  ///< tile * 64 + block, pass by pass
  std::uint64_t* before;   ///< [pass][tile], and the number of all
};

/// Starts to list the blocks that have codes, of the first passes of a frame.
LiveBlocks list_live_blocks(DeviceContext& gpu, int rank, int passes, std::uint32_t tiles,
                            const std::uint8_t* classes);

/// What tables are made of.
struct SymbolCounts {
  std::uint32_t classes[class_count][class_places];  ///< [context][class]
  std::uint32_t tokens[class_count][token_places];   ///< [class][token]
};

/// Starts to count the classes of all blocks and the tokens of those that have codes.
SymbolCounts* count_symbols_of_cells(DeviceContext& gpu, const CellsChains& chains);

/// Starts to find which codes of tiles are coded.
const CodedPoints* find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank);

}  // namespace cuszi::gpu
