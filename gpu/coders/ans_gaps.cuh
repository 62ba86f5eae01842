#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

// Tables in which few codes differ from the centre are coded by gaps: the distances between these
// codes.

/// The codes of one table: `others` of them differ from the centre; `larger` of the others differ
/// from it by more than 1, or are outliers.
struct SparseCodes {
  QuantCode* codes = nullptr;
  std::uint64_t count = 0;
  std::uint64_t others = 0;
  std::uint64_t larger = 0;
};

/// The lists of one table that is coded by gaps, as values of slots, on the device.
struct GapLists {
  std::uint32_t* gaps = nullptr;        ///< of all others
  std::uint32_t* inner_gaps = nullptr;  ///< of the larger ones
  std::uint32_t* magnitudes = nullptr;  ///< of these
};

/// How often each token of the gap lists of one table occurs.
struct GapCounts {
  Counts gaps;
  Counts inner_gaps;
  std::uint64_t too_long;  ///< gaps that no token stands for
};

struct FoundGaps {
  std::vector<GapLists> lists;
  const GapCounts* counts;  ///< of each table, after the next wait
};

/// Finds the gaps of several tables and counts their tokens.
FoundGaps find_gaps(DeviceContext& gpu, std::span<const SparseCodes> tables, std::uint32_t centre);

/// The decoded gap lists of one table.
struct CodedGaps {
  GapLists lists;
  std::uint32_t others = 0;
  std::uint32_t larger = 0;
};

/// Codes that differ from the centre, and their positions among the codes of a table.
struct PlacedOthers {
  const QuantCode* codes = nullptr;
  const std::uint32_t* positions = nullptr;  ///< ascending
};

/// Turns decoded gap lists of several tables into codes and positions. Sets a flaw if the larger
/// codes are not among the others.
std::vector<PlacedOthers> expand_gaps(DeviceContext& gpu, std::span<const CodedGaps> tables,
                                      std::uint32_t centre);

}  // namespace cuszi::gpu
