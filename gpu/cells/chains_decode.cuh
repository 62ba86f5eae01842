#pragma once

#include "gpu/cells/chains.cuh"

namespace cuszi::gpu {

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
