#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

// Coding by gaps, for tables in which few codes differ from the centre.

/// `others` differ from the centre, `larger` of them by more than 1 or are outliers.
struct SparseCodes {
  QuantCode* codes = nullptr;
  std::uint64_t count = 0;
  std::uint64_t others = 0;
  std::uint64_t larger = 0;
};

struct GapLists {
  std::uint32_t* gaps = nullptr;
  std::uint32_t* inner_gaps = nullptr;  ///< of larger codes
  std::uint32_t* magnitudes = nullptr;  ///< of larger codes
};

struct GapCounts {
  Counts gaps;
  Counts inner_gaps;
  std::uint64_t too_long;  ///< gaps without a token
};

struct FoundGaps {
  std::vector<GapLists> lists;
  const GapCounts* counts;  ///< by table, valid after the next sync()
};

FoundGaps find_gaps(DeviceContext& gpu, std::span<const SparseCodes> tables, std::uint32_t centre);

struct CodedGaps {
  GapLists lists;
  std::uint32_t others = 0;
  std::uint32_t larger = 0;
};

struct PlacedOthers {
  const QuantCode* codes = nullptr;
  const std::uint32_t* positions = nullptr;  ///< ascending
};

/// Expands gap lists to codes and positions. Sets a flaw if a larger code is out of range.
std::vector<PlacedOthers> expand_gaps(DeviceContext& gpu, std::span<const CodedGaps> tables,
                                      std::uint32_t centre);

}  // namespace cuszi::gpu
