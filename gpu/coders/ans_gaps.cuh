#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

// Codes of which few differ from the centre, and the lists of gaps by which they can be told.

/// The codes of one table, and how many of them differ from the centre, and are larger than 1 or
/// outliers.
struct SparseCodes {
  QuantCode* codes = nullptr;
  std::uint64_t count = 0;
  std::uint64_t others = 0;
  std::uint64_t larger = 0;
};

/// Lists of values of slots on the device.
struct GapLists {
  std::uint32_t* gaps = nullptr;        ///< of all others
  std::uint32_t* inner_gaps = nullptr;  ///< of the larger ones
  std::uint32_t* magnitudes = nullptr;  ///< of these
};

/// How often their tokens occur.
struct GapCounts {
  Counts gaps;
  Counts inner_gaps;
  std::uint64_t too_long;  ///< gaps that no token stands for
};

struct FoundGaps {
  std::vector<GapLists> lists;
  const GapCounts* counts;  ///< of each table, after the next wait
};

/// The gaps of several tables.
FoundGaps find_gaps(Work& work, std::span<const SparseCodes> tables, std::uint32_t centre);

/// The decoded lists of a table.
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

/// The inverse for several tables. Sets a flaw if the larger codes are not among the others.
std::vector<PlacedOthers> expand_gaps(Work& work, std::span<const CodedGaps> tables,
                                      std::uint32_t centre);

}  // namespace cuszi::gpu
