#include "core/coders/ans_chain.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "core/field/chunk_index.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

void AnsParams::write(ByteWriter& out) const {
  out.varint(centre);
  write_index_params(index, partition, out);
}

AnsParams AnsParams::read(ByteReader& in) {
  AnsParams params;
  const std::uint64_t centre = in.varint();
  if (centre == 0 || centre > max_radius) {
    throw ArchiveError("the ANS coder's centre is " + std::to_string(centre) + ", not from 1 to " +
                       std::to_string(max_radius));
  }
  params.centre = static_cast<std::uint32_t>(centre);
  read_index_params(in, params.index, params.partition);
  return params;
}

namespace {

/// Per-symbol share of the lane's final-state overhead (24 bits / lane).
constexpr Cost slot_cost = (Cost{24} << cost_bits) / slots_of_lane;

int count_bits(std::uint64_t most) { return static_cast<int>(std::bit_width(most)); }

Counts magnitude_counts(const Counts& codes) {
  Counts counts{};
  std::copy(codes.begin() + least_magnitude, codes.end(), counts.begin());
  return counts;
}

BitCount raw_bits_in(SlotKind kind, const Counts& counts) {
  BitCount bits = 0;
  for (unsigned t = 0; t < tokens_of(kind); ++t) bits += counts[t] * raw_bits_of(kind, t);
  return bits;
}

PricedList priced(SlotKind kind, const Counts& counts) {
  PricedList list;
  list.kind = kind;
  list.count = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (list.count == 0) return list;
  list.table = FrequencyTable::fit(counts);
  list.cost =
      list.table.cost(counts) + (raw_bits_in(kind, counts) << cost_bits) + list.count * slot_cost;
  return list;
}

}  // namespace

std::uint64_t TableCounts::symbols() const {
  return std::accumulate(codes.begin(), codes.end(), std::uint64_t{0});
}

bool TableCounts::may_pay_by_gaps() const {
  return 2 * others() <= symbols() && others() + 2 * larger() <= symbols();
}

std::vector<TableCounts> table_counts(std::span<const Counts> of_context,
                                      const ContextTables& contexts) {
  std::vector<TableCounts> result(contexts.tables.size());
  for (std::size_t c = of_context.size(); c-- > 0;) {
    TableCounts& counts = result[contexts.table_of[c]];
    counts.first_context = static_cast<std::uint32_t>(c);
    for (unsigned t = 0; t < token_count; ++t) counts.codes[t] += of_context[c][t];
  }
  return result;
}

bool are_silent(std::span<const TableCounts> tables) {
  return std::all_of(tables.begin(), tables.end(),
                     [](const TableCounts& table) { return table.others() == 0; });
}

BitCount raw_bits_of(const TableLists& lists, const TableCounts& counts) {
  if (!lists.by_gaps) return raw_bits_in(SlotKind::code, counts.codes);
  return raw_bits_in(SlotKind::gap, counts.gaps) +
         raw_bits_in(SlotKind::inner_gap, counts.inner_gaps) +
         raw_bits_in(SlotKind::magnitude, magnitude_counts(counts.codes));
}

void ChainPlan::add_list(SlotKind kind, std::uint64_t count, const FrequencyTable& table) {
  if (count == 0) return;
  std::uint64_t& of_sort = kind == SlotKind::code ? codes : numbers;
  lists.push_back({kind, slots(), count, of_sort});
  tables.push_back(table);
  of_sort += count;
}

PricedTable PricedTable::of(const TableCounts& counts) {
  PricedList direct = priced(SlotKind::code, counts.codes);
  PricedTable result{{counts.first_context, false, direct.count, 0, 0}, {}, direct.cost};
  if (counts.fits_gaps) {
    const std::uint64_t others = counts.others();
    std::vector<PricedList> lists{priced(SlotKind::gap, counts.gaps),
                                  priced(SlotKind::inner_gap, counts.inner_gaps),
                                  priced(SlotKind::magnitude, magnitude_counts(counts.codes))};
    Cost cost = static_cast<Cost>(count_bits(others)) << cost_bits;
    for (const PricedList& list : lists) cost += list.cost;
    if (cost < direct.cost) {
      result.table = {counts.first_context, true, others, lists.back().count, 0};
      result.lists = std::move(lists);
      result.cost = cost;
      return result;
    }
  }
  result.lists.push_back(direct);
  return result;
}

void ChainPlan::add(const PricedTable& priced_table, PassTables& pass) {
  cost += priced_table.cost;
  pass.push_back(priced_table.table);
  pass.back().first_list = static_cast<std::uint32_t>(lists.size());
  for (const PricedList& list : priced_table.lists) add_list(list.kind, list.count, list.table);
}

ChainPlan ChainPlan::of(std::span<const std::vector<PricedTable>> passes) {
  ChainPlan plan;
  for (const std::vector<PricedTable>& tables : passes) {
    PassTables& pass = plan.passes.emplace_back();
    for (const PricedTable& table : tables) plan.add(table, pass);
  }
  return plan;
}

ChainPlan ChainPlan::choose(std::span<const std::vector<TableCounts>> passes) {
  std::vector<std::vector<PricedTable>> all;
  for (const std::vector<TableCounts>& tables : passes) {
    std::vector<PricedTable>& pass = all.emplace_back();
    if (are_silent(tables)) continue;
    for (const TableCounts& counts : tables) pass.push_back(PricedTable::of(counts));
  }
  return of(all);
}

void ChainPlan::write(std::span<const PassShape> shapes, BitWriter& out) const {
  for (std::size_t i = 0; i < passes.size(); ++i) {
    std::uint64_t left = shapes[i].points;
    std::uint32_t before = 0;
    for (const TableLists& table : passes[i]) {
      out.put(1, 1);
      if (&table != &passes[i].front()) put_unary(table.first_context - before - 1, out);
      before = table.first_context;
      out.put(table.by_gaps ? 1 : 0, 1);
      out.put(table.codes, count_bits(left));
      if (table.by_gaps) out.put(table.larger, count_bits(table.codes));
      for (std::uint32_t k = 0; k < table.list_count(); ++k) {
        tables[table.first_list + k].write(out);
      }
      left -= table.codes;
    }
    out.put(0, 1);
  }
}

ChainPlan ChainPlan::read(std::span<const PassShape> shapes, BitReader& in) {
  ChainPlan plan;
  for (const PassShape& shape : shapes) {
    PassTables& pass = plan.passes.emplace_back();
    std::uint64_t left = shape.points;
    while (in.get(1) != 0) {
      TableLists table;
      if (!pass.empty()) {
        table.first_context =
            pass.back().first_context + 1 + get_unary(in, static_cast<unsigned>(shape.contexts));
      }
      table.by_gaps = in.get(1) != 0;
      table.codes = in.get(count_bits(left));
      if (table.by_gaps) table.larger = in.get(count_bits(table.codes));
      if (table.first_context >= shape.contexts || table.slots() > left ||
          table.larger > table.codes) {
        throw ArchiveError("a chain of codes has more tables or slots than there can be");
      }
      table.first_list = static_cast<std::uint32_t>(plan.lists.size());
      const auto read_list = [&](SlotKind kind, std::uint64_t count) {
        if (count != 0) plan.add_list(kind, count, FrequencyTable::read(in, tokens_of(kind)));
      };
      read_list(table.by_gaps ? SlotKind::gap : SlotKind::code, table.codes);
      read_list(SlotKind::inner_gap, table.larger);
      read_list(SlotKind::magnitude, table.larger);
      left -= table.codes;
      pass.push_back(table);
    }
  }
  return plan;
}

ChainSegment segment_of(const ChainPlan& plan, std::uint64_t number) {
  const std::uint64_t first = number * slots_of_segment;
  return {first, static_cast<std::uint32_t>(
                     std::min<std::uint64_t>(slots_of_segment, plan.slots() - first))};
}

std::uint64_t ChainPlan::slots_of(std::size_t pass) const {
  const PassTables& all = passes[pass];
  return std::accumulate(
      all.begin(), all.end(), std::uint64_t{0},
      [](std::uint64_t sum, const TableLists& table) { return sum + table.slots(); });
}

std::uint64_t ChainPlan::lanes() const {
  if (slots() == 0) return 0;
  return (segments() - 1) * most_lanes + segment_of(*this, segments() - 1).lanes();
}

std::uint32_t ChainPlan::steps() const { return slots() == 0 ? 0 : segment_of(*this, 0).steps(); }

std::vector<std::byte> chain_head(const ChainPlan& plan, std::span<const PassShape> shapes) {
  BitWriter head;
  plan.write(shapes, head);
  return head.take();
}

std::vector<std::byte> chain_index(const AnsParams& params,
                                   std::span<const std::uint32_t> segment_bytes) {
  std::vector<std::uint32_t> bits(segment_bytes.size());
  std::transform(segment_bytes.begin(), segment_bytes.end(), bits.begin(),
                 [](std::uint32_t bytes) { return 8 * bytes; });
  return encode_index(params.index, params.partition, bits);
}

CodedChain CodedChain::read(const AnsParams& params, Bytes index, Bytes codes,
                            std::span<const PassShape> shapes) {
  CodedChain chain;
  BitReader head(codes, "the quant-codes");
  chain.plan = ChainPlan::read(shapes, head);
  chain.segments = codes.subspan(head.bytes_read());
  const std::uint64_t segments = chain.plan.segments();
  if (segments > chain.segments.size() / sizeof(std::uint32_t)) {
    throw ArchiveError("the quant-codes are truncated");
  }
  const std::vector<BitCount> starts =
      decode_index(params.index, params.partition, index, segments, chain.segments.size() * 8);
  for (const BitCount start : starts) chain.starts.push_back(start / 8);
  return chain;
}

}  // namespace cuszi
