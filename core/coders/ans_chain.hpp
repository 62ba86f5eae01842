#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bits.hpp"
#include "core/base/bytes.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/ans_tables.hpp"
#include "core/field/config.hpp"

namespace cuszi {

struct PassShape {
  std::uint64_t points = 0;
  std::size_t contexts = 1;  ///< of its codes
};

/// A half-open range.
struct PassRange {
  int first = 0;
  int end = 0;
};

template <class Element>
std::span<Element> of_range(std::span<Element> all, const PassRange& range) {
  return all.subspan(static_cast<std::size_t>(range.first),
                     static_cast<std::size_t>(range.end - range.first));
}

inline std::vector<PassRange> passes_of_levels(std::span<const int> level_of_pass) {
  std::vector<PassRange> levels;
  const auto passes = static_cast<int>(level_of_pass.size());
  for (int pass = 0; pass < passes; ++pass) {
    const auto i = static_cast<std::size_t>(pass);
    if (pass == 0 || level_of_pass[i] != level_of_pass[i - 1]) levels.push_back({pass, pass});
    levels.back().end = pass + 1;
  }
  return levels;
}

/// Interleaved rANS (Duda 2013; Giesen 2014) of quant-codes, with static tables per context.
struct AnsParams {
  static constexpr std::string_view name = "ans";
  static constexpr CoderId id = CoderId::ans;
  static constexpr bool uses_contexts = true;

  std::uint32_t centre = 0;  ///< the code of a prediction error of 0
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  static AnsParams draft(const FrameConfig& config, std::uint32_t centre) {
    return {centre, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static AnsParams read(ByteReader& in);
};

// The codes of all passes of a level are one chain of slots, by pass, then by table. Only its head
// is needed to decode it; the contexts then assign codes to points.

struct SlotList {
  SlotKind kind = SlotKind::code;
  std::uint64_t first = 0;  ///< slot of the chain
  std::uint64_t count = 0;
  std::uint64_t first_value = 0;
};

/// The lists of the contexts that share a table.
struct TableLists {
  std::uint32_t first_context = 0;
  bool by_gaps = false;
  std::uint64_t codes = 0;       ///< all codes, or, by gaps, those other than the centre
  std::uint64_t larger = 0;      ///< by gaps: outliers and magnitudes above 1
  std::uint32_t first_list = 0;  ///< first of list_count() lists of the chain

  std::uint64_t slots() const { return codes + 2 * larger; }
  std::uint32_t list_count() const { return (codes != 0 ? 1 : 0) + (larger != 0 ? 2 : 0); }
};

/// A pass's tables by ascending context; none if all codes are the centre.
using PassTables = std::vector<TableLists>;

struct TableCounts {
  std::uint32_t first_context = 0;
  Counts codes{};
  bool fits_gaps = false;
  Counts gaps{};  ///< tokens of gaps, if `fits_gaps`
  Counts inner_gaps{};

  std::uint64_t symbols() const;
  std::uint64_t others() const { return symbols() - codes[0]; }  ///< not the centre
  std::uint64_t larger() const { return others() - codes[1]; }
  bool may_pay_by_gaps() const;
};

/// From those of its contexts; gaps are not counted yet.
std::vector<TableCounts> table_counts(std::span<const Counts> of_context,
                                      const ContextTables& contexts);
/// Whether all codes of a pass are the centre.
bool are_silent(std::span<const TableCounts> tables);
BitCount raw_bits_of(const TableLists& lists, const TableCounts& counts);

struct PricedList {
  SlotKind kind = SlotKind::code;
  std::uint64_t count = 0;
  FrequencyTable table;
  Cost cost = 0;
};

/// The cheaper coding of a table, directly or by gaps; directly on ties.
struct PricedTable {
  TableLists table;
  std::vector<PricedList> lists;
  Cost cost = 0;

  static PricedTable of(const TableCounts& counts);
};

/// A chain's head.
struct ChainPlan {
  std::vector<PassTables> passes;
  std::vector<SlotList> lists;
  std::vector<FrequencyTable> tables;
  std::uint64_t codes = 0;    ///< slots of quant-codes
  std::uint64_t numbers = 0;  ///< slots of other kinds
  Cost cost = 0;

  std::uint64_t slots() const { return codes + numbers; }
  std::uint64_t segments() const { return ceil_div(slots(), slots_of_segment); }
  std::uint64_t slots_of(std::size_t pass) const;
  /// Lanes of all segments.
  std::uint64_t lanes() const;
  /// The slots of the longest lane, which are sequential.
  std::uint32_t steps() const;

  /// All-centre passes have no tables.
  static ChainPlan of(std::span<const std::vector<PricedTable>> passes);
  static ChainPlan choose(std::span<const std::vector<TableCounts>> passes);

  void write(std::span<const PassShape> shapes, BitWriter& out) const;
  /// Throws ArchiveError.
  static ChainPlan read(std::span<const PassShape> shapes, BitReader& in);

 private:
  void add(const PricedTable& priced, PassTables& pass);
  void add_list(SlotKind kind, std::uint64_t count, const FrequencyTable& table);
};

struct ChainSegment {
  std::uint64_t first = 0;
  std::uint32_t slots = 0;

  std::uint32_t lanes() const { return lanes_of(slots); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(ceil_div(slots, lanes())); }
};
ChainSegment segment_of(const ChainPlan& plan, std::uint64_t number);

std::vector<std::byte> chain_head(const ChainPlan& plan, std::span<const PassShape> shapes);
std::vector<std::byte> chain_index(const AnsParams& params,
                                   std::span<const std::uint32_t> segment_bytes);

struct CodedChain {
  ChainPlan plan;
  Bytes segments;
  std::vector<ByteCount> starts;  ///< of each segment; without an index, of the first only

  /// `codes` must not be empty. Throws ArchiveError.
  static CodedChain read(const AnsParams& params, Bytes index, Bytes codes,
                         std::span<const PassShape> shapes);
};

}  // namespace cuszi
