#pragma once

#include "core/cells/head.hpp"
#include "gpu/cells/chains.cuh"
#include "gpu/cells/classes.cuh"

namespace cuszi::gpu {

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

}  // namespace cuszi::gpu
