#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bits.hpp"
#include "core/base/bytes.hpp"
#include "core/coders/ans.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/ans_tables.hpp"
#include "core/coders/pass_shape.hpp"

namespace cuszi {

// The codes of all passes of a level are one chain of slots: pass by pass, and in a pass table by
// table, so that nothing but the chain's head is needed to decode it. The contexts of a pass say
// which of its tables each code comes from.

/// Consecutive slots of one kind under one frequency table: plain data.
struct SlotList {
  SlotKind kind = SlotKind::code;
  std::uint64_t first = 0;  ///< slot of the chain
  std::uint64_t count = 0;
  std::uint64_t first_value = 0;  ///< among the quant-codes of the chain, or its numbers
};

/// Where the codes of contexts that share a table are.
struct TableLists {
  std::uint32_t first_context = 0;
  bool by_gaps = false;
  std::uint64_t codes = 0;       ///< that are told: all, or by gaps those that are not the centre
  std::uint64_t larger = 0;      ///< of those by gaps: with a magnitude, and outliers
  std::uint32_t first_list = 0;  ///< in the chain; as many as list_count() says

  std::uint64_t slots() const { return codes + 2 * larger; }
  std::uint32_t list_count() const { return (codes != 0 ? 1 : 0) + (larger != 0 ? 2 : 0); }
};

/// The tables of a pass by ascending contexts; none if all codes are the centre.
using PassTables = std::vector<TableLists>;

/// What there is to know of the codes of contexts that share a table before it is chosen how to
/// write them.
struct TableCounts {
  std::uint32_t first_context = 0;
  Counts codes{};  ///< tokens
  bool fits_gaps = false;
  Counts gaps{};  ///< of the tokens that its gaps would have, if it `fits_gaps`
  Counts inner_gaps{};

  std::uint64_t symbols() const;
  std::uint64_t others() const { return symbols() - codes[0]; }  ///< than the centre
  std::uint64_t larger() const { return others() - codes[1]; }
  /// Whether the codes can be told by gaps and it is worthwhile to look at these.
  bool may_pay_by_gaps() const;
};

/// The counts of each table of a pass, from how often each token occurs in each context. Gaps are
/// not counted yet.
std::vector<TableCounts> table_counts(std::span<const Counts> of_context,
                                      const ContextTables& contexts);
/// Whether all codes of a pass are the centre.
bool are_silent(std::span<const TableCounts> tables);
/// The raw bits of a table's slots as they are written.
BitCount raw_bits_of(const TableLists& lists, const TableCounts& counts);

/// A list of slots as a table has them, and what it costs.
struct PricedList {
  SlotKind kind = SlotKind::code;
  std::uint64_t count = 0;
  FrequencyTable table;
  Cost cost = 0;
};

/// A table's codes written in the way that costs less, as codes on ties.
struct PricedTable {
  TableLists table;
  std::vector<PricedList> lists;
  Cost cost = 0;

  static PricedTable of(const TableCounts& counts);
};

/// A chain's head: all that decides how its slots are written.
struct ChainPlan {
  std::vector<PassTables> passes;
  std::vector<SlotList> lists;
  std::vector<FrequencyTable> tables;  ///< of each list
  std::uint64_t codes = 0;             ///< slots that are quant-codes
  std::uint64_t numbers = 0;           ///< slots of other kinds
  Cost cost = 0;                       ///< as far as tables know it

  std::uint64_t slots() const { return codes + numbers; }
  std::uint64_t segments() const { return ceil_div(slots(), slots_of_segment); }
  std::uint64_t slots_of(std::size_t pass) const;
  /// The number of lanes of all segments together.
  std::uint64_t lanes() const;
  /// The number of slots of the longest lane, which are coded one after the other.
  std::uint32_t steps() const;

  /// Plans a chain for the tables of each pass. A pass whose codes are all the centre has no
  /// tables.
  static ChainPlan of(std::span<const std::vector<PricedTable>> passes);
  /// Plans a chain from the counts of each pass: chooses a table and its slot lists for each entry
  /// of a pass. A pass whose codes are all the centre gets no tables.
  static ChainPlan choose(std::span<const std::vector<TableCounts>> passes);

  void write(std::span<const PassShape> shapes, BitWriter& out) const;
  /// Reads a plan that write() has written for passes of these shapes. Throws ArchiveError.
  static ChainPlan read(std::span<const PassShape> shapes, BitReader& in);

 private:
  void add(const PricedTable& priced, PassTables& pass);
  void add_list(SlotKind kind, std::uint64_t count, const FrequencyTable& table);
};

/// Slots of a chain that are decoded by themselves.
struct ChainSegment {
  std::uint64_t first = 0;
  std::uint32_t slots = 0;

  std::uint32_t lanes() const { return lanes_of(slots); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(ceil_div(slots, lanes())); }
};
ChainSegment segment_of(const ChainPlan& plan, std::uint64_t number);

/// A chain's head in front of its segments.
std::vector<std::byte> chain_head(const ChainPlan& plan, std::span<const PassShape> shapes);
/// The index of its segments.
std::vector<std::byte> chain_index(const AnsParams& params,
                                   std::span<const std::uint32_t> segment_bytes);

/// A chain as it is read.
struct CodedChain {
  ChainPlan plan;
  Bytes segments;
  std::vector<ByteCount> starts;  ///< of each segment; of the first one alone without an index

  /// Reads the chain of a level whose section `codes` is not empty, for passes of these shapes.
  /// Throws ArchiveError.
  static CodedChain read(const AnsParams& params, Bytes index, Bytes codes,
                         std::span<const PassShape> shapes);
};

}  // namespace cuszi
