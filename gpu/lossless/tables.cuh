#pragma once

#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

/// The tables that fit, as WordCounts::choose(). What is on the host is there after the next
/// sync().
struct PendingTables {
  const WordTables* tables;          ///< on the host
  const Cost* token_costs;           ///< likewise, by class
  const PackedSymbolShare* tokens;   ///< [class][token]
  const PackedSymbolShare* classes;  ///< [class before][class]
};
PendingTables start_tables(DeviceContext& gpu, const DeviceCounts* counts);

/// The costs of choices whose tokens were counted, [choice][class][token]. Waits.
std::vector<Cost> costs_of_counts(DeviceContext& gpu, const std::uint32_t* counts,
                                  std::size_t choices);

/// Tables as decoders take them.
struct WordSlots {
  std::uint8_t* token_symbols;  ///< [class][slot]
  SlotShare* token_shares;      ///< [class][token]
  std::uint8_t* class_symbols;  ///< [class before][slot]
  SlotShare* class_shares;      ///< [class before][class]
};
WordSlots start_slots(DeviceContext& gpu, const WordTables& tables);

}  // namespace cuszi::gpu
