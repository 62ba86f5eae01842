#pragma once

#include "core/cells/blocks.hpp"
#include "core/cells/head.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/cells/chains.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

// The steps between the codes of equal frames (see values.cuh) and the sections of their archives.
// Arrays have the frames one after the other.

/// The blocks of frames that have codes: tokens, or a list if they are sparse.
struct LiveBlocks {
  std::uint64_t* masks;      ///< [frame][tile]: those that have codes; bit i is block i
  std::uint64_t* sparse;     ///< [frame][tile]
  std::uint32_t* numbers;    ///< [frame]: tile * 64 + block of those that have tokens, pass by
                             ///< pass; room for all blocks
  std::uint32_t* first;      ///< [frame]: where each pass begins in a frame's numbers, and the end
  std::uint64_t* lists_at;   ///< [frame][pass][tile]
  std::uint64_t* list_bits;  ///< [frame][pass]
};
inline constexpr unsigned live_numbers_of_frame = most_cell_passes + 1;

/// Memory for those of frames with these tiles and passes. The first frame's go to `chains`.
LiveBlocks take_live_blocks(DeviceContext& gpu, unsigned frames, CellsChains& chains);
/// Lets a frame's chains have its own, given those of the first frame.
void select_live_blocks(CellsChains& chains, unsigned frame);
/// Starts to list the blocks of frames that have codes, given the chains of the first frame.
void list_live_blocks(DeviceContext& gpu, unsigned frames, const CellsChains& chains,
                      const LiveBlocks& live);

/// What tables are made of.
struct SymbolCounts {
  std::uint32_t classes[class_count][class_places];  ///< [context][class]
  std::uint32_t tokens[class_count][token_places];   ///< [class][token]
};

/// Starts to find which codes of tiles are coded.
void find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank, CodedPoints* coded);

// Places of the tables of a frame.
inline constexpr std::uint64_t class_shares_of_frame = class_count * class_places;
inline constexpr std::uint64_t code_shares_of_frame = class_count * token_places;

/// The tables of frames as encoders take them.
struct EncoderTables {
  PackedSymbolShare* classes;  ///< [frame][context][class]
  PackedSymbolShare* codes;    ///< [frame][class][token]
};
EncoderTables take_encoder_tables(DeviceContext& gpu, unsigned frames);
/// Core's default_tables(), on the device.
const CellsTables* upload_default_tables(DeviceContext& gpu);
/// Starts to choose the tables of frames, and how many blocks a lane codes. They go to `heads` too.
/// `tables_done`, a number a frame, are 0 before.
void choose_tables(DeviceContext& gpu, const SymbolCounts* counts, unsigned frames,
                   const CellsTables* defaults, unsigned* tables_done, CellsHead* heads,
                   const EncoderTables& tables);

/// Classes in runs of a lane: words that a segment of them takes at most.
inline constexpr std::uint64_t class_segment_words = 32 * most_run_classes;

/// Words that a segment of codes has besides `room` words a code.
inline constexpr std::uint64_t spare_segment_words = 512;

struct ChainEncodeTask {
  CellsChains chains;
  const PackedSymbolShare* class_shares;  ///< [context][class]
  const PackedSymbolShare* code_shares;   ///< [class][token]
  std::uint32_t* lists;                   ///< words of lists, see lists_of_pass(); 0 before
  std::uint16_t* class_words;
  std::uint16_t* code_words;
  std::uint32_t room;    ///< words for a code, 1 or 2
  std::uint32_t* heads;  ///< [segment][word]
  LaneWords* words;      ///< [segment]
  std::uint32_t* sizes;  ///< bytes of segments; 0 before
  std::uint32_t* has_overflown;
};

using ChainEncodeTasks = FrameTasks<ChainEncodeTask>;

/// The pass of a block of a tile.
__device__ inline int pass_of_block(int rank, std::uint32_t block) {
  return block == 0 ? 0 : (31 - __clz(static_cast<int>(block))) / rank + 1;
}

/// Words for the lists of a frame's sparse blocks: one for each block, and one more a pass.
CUSZI_HD inline std::uint64_t lists_of_frame(std::uint64_t tiles) {
  return tiles * tile_blocks + most_cell_passes;
}
/// Where those of a pass begin.
CUSZI_HD inline std::uint64_t lists_of_pass(int rank, int pass, std::uint64_t tiles) {
  return tiles * first_block_of_pass(rank, pass) + static_cast<unsigned>(pass);
}
static_assert(list_bits(most_sparse_sum) <= 32);

/// Starts to make the lists of sparse blocks.
void encode_lists(DeviceContext& gpu, const ChainEncodeTasks& frames);

/// Starts to count the classes of all blocks, by frame. `counts` are 0 before.
void count_cell_classes(DeviceContext& gpu, const ChainEncodeTasks& frames, SymbolCounts* counts);
/// Starts to count the tokens of the blocks that have some. `counts` are 0 before.
void count_cell_tokens(DeviceContext& gpu, const ChainEncodeTasks& frames, SymbolCounts* counts);

/// Starts to code the chains of all passes.
void encode_chains(DeviceContext& gpu, const ChainEncodeTasks& frames);

/// The bytes of a pass's chains, which may begin at any address.
struct PassBytes {
  const std::byte* index;
  const std::byte* classes;
  ByteCount class_bytes;  ///< of lists, too
  const std::byte* codes;
  ByteCount code_bytes;
};

struct ChainDecodeTask {
  CellsChains chains;  ///< `of_codes` as the index says
  PassBytes bytes[most_cell_passes];
  std::uint32_t* sizes;    ///< of segments, as in the index
  std::uint64_t* offsets;  ///< sums of sizes before, and of all
  const CellsTables* tables;
  std::uint32_t* done;        ///< which segments are decoded: 0 before
  std::uint32_t* next_block;  ///< of those that decode classes: 0 before
  std::uint16_t* carried;     ///< [pass][segment][lane]: words that the lanes of classes carry

  /// Whether a pass has the segments of codes that its classes ask for.
  __device__ bool has_codes_of_classes(int pass) const {
    const PassSegments& segments = chains.segments[pass];
    const std::uint64_t* const of_codes = offsets + segments.first + segments.of_classes;
    return chains.code_segments(pass) == segments.of_codes &&
           of_codes[segments.of_codes] - of_codes[0] == bytes[pass].code_bytes;
  }
};

using ChainDecodeTasks = FrameTasks<ChainDecodeTask>;

/// Starts to decode the classes of all passes, which are 0 before.
void decode_classes(DeviceContext& gpu, const ChainDecodeTasks& frames);
/// Starts to restore sparse blocks, once `live` is known.
void decode_lists(DeviceContext& gpu, const ChainDecodeTasks& frames);
/// Starts to decode the codes of all passes, once `live` is known.
void decode_codes(DeviceContext& gpu, const ChainDecodeTasks& frames);

}  // namespace cuszi::gpu
