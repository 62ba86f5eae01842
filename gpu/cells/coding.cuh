#pragma once

#include "core/cells/blocks.hpp"
#include "core/cells/head.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/cells/chains.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

// The steps between codes and the sections of an archive.

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

/// Starts to count the classes of all blocks and the tokens of those that have codes, which are
/// listed.
SymbolCounts* count_symbols_of_cells(DeviceContext& gpu, const CellsChains& chains);

/// Starts to find which codes of tiles are coded.
const CodedPoints* find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank);

/// The tables of a frame as encoders take them.
struct EncoderTables {
  const PackedCellShare* classes;  ///< [context][class]
  const PackedCellShare* codes;    ///< [class][token]
};
/// Starts to choose the tables of a frame, and how many blocks a lane codes. They go to `head`.
EncoderTables choose_tables(DeviceContext& gpu, const SymbolCounts* counts, CellsHead* head);

/// The tables of a frame as decoders take them.
struct DecoderTables {
  const std::uint8_t* class_symbols;  ///< [context][slot]
  const std::uint32_t* class_shares;  ///< [context][class]: frequency, and the first slot above
  const std::uint8_t* code_symbols;   ///< [class][slot]
  const std::uint32_t* code_shares;   ///< [class][token]
};
DecoderTables fill_tables(DeviceContext& gpu, const CellsTables* tables);

/// The words that a segment has come to.
struct SegmentOutput {
  const std::uint16_t* words;
  std::uint32_t count;
  std::uint32_t lanes;
};

/// Classes in runs of a lane: words that a segment of them takes at most.
inline constexpr std::uint64_t class_segment_words = 32 * most_run_classes;

/// Words that chains of codes take at most, if none is longer than `room` words a code.
std::uint64_t code_words(std::uint64_t codes, std::uint32_t segments, std::uint32_t room);

struct ChainEncodeTask {
  CellsChains chains;
  const PackedCellShare* class_shares;  ///< [context][class]
  const PackedCellShare* code_shares;   ///< [class][token]
  std::uint16_t* class_words;
  std::uint16_t* code_words;
  std::uint32_t room;     ///< words for a code, 1 or 2
  std::uint32_t* states;  ///< [segment][lane]
  SegmentOutput* words;   ///< [segment]
  std::uint32_t* sizes;   ///< bytes of segments; 0 before
  std::uint32_t* has_overflown;
};

/// Starts to code the chains of all passes.
void encode_chains(DeviceContext& gpu, const ChainEncodeTask& task);

/// Starts to write the segments, at these offsets.
void store_chains(DeviceContext& gpu, const ChainEncodeTask& task, std::uint32_t entries,
                  const std::uint64_t* offsets, std::byte* out);

/// The bytes of a pass's chains, which may begin at any address.
struct PassBytes {
  const std::byte* classes;
  ByteCount class_bytes;
  const std::byte* codes;
  ByteCount code_bytes;
};

struct ChainDecodeTask {
  CellsChains chains;  ///< `of_codes` as the index says
  PassBytes bytes[most_cell_passes];
  const std::uint32_t* sizes;         ///< of segments, as in the index
  const std::uint64_t* offsets;       ///< sums of sizes before
  const std::uint8_t* class_symbols;  ///< [context][slot]
  const std::uint32_t* class_shares;  ///< [context][class]
  const std::uint8_t* code_symbols;   ///< [class][slot]
  const std::uint32_t* code_shares;   ///< [class][token]
};

/// Starts to decode the classes of all passes, which are 0 before.
void decode_classes(DeviceContext& gpu, const ChainDecodeTask& task);
/// Starts to decode the codes of all passes, once `live` is known.
void decode_codes(DeviceContext& gpu, const ChainDecodeTask& task);

}  // namespace cuszi::gpu
