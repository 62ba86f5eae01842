#include "core/ans_chain.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/chunk_index.hpp"

namespace cuszi {

namespace {

/// What a slot costs beside its token: its share of what a lane's last state wastes.
constexpr Cost slot_cost = (Cost{24} << cost_bits) / slots_of_lane;

/// Bits that tell a count of at most `most`.
int count_bits(std::uint64_t most) { return static_cast<int>(std::bit_width(most)); }

/// How often each token of a kind occurs where codes have these.
Counts magnitude_counts(const Counts& codes) {
  Counts counts{};
  std::copy(codes.begin() + least_magnitude, codes.end(), counts.begin());
  return counts;
}

Cost raw_cost(SlotKind kind, const Counts& counts) {
  std::uint64_t bits = 0;
  for (unsigned t = 0; t < tokens_of(kind); ++t) bits += counts[t] * raw_bits_of(kind, t);
  return bits << cost_bits;
}

/// The list of one kind, and what it costs.
struct PricedList {
  SlotKind kind;
  std::uint64_t count;
  FrequencyTable table;
  Cost cost = 0;

  PricedList(SlotKind list_kind, const Counts& counts)
      : kind(list_kind), count(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})) {
    if (count == 0) return;
    table = FrequencyTable::fit(counts);
    cost = table.cost(counts) + raw_cost(kind, counts) + count * slot_cost;
  }
};

}  // namespace

std::uint64_t TableCounts::symbols() const {
  return std::accumulate(codes.begin(), codes.end(), std::uint64_t{0});
}

bool TableCounts::may_pay_by_gaps() const { return 2 * others() <= symbols(); }

void ChainPlan::add_list(SlotKind kind, std::uint64_t count, const FrequencyTable& table) {
  if (count == 0) return;
  std::uint64_t& of_sort = kind == SlotKind::code ? codes : numbers;
  lists.push_back({kind, slots(), count, of_sort});
  tables.push_back(table);
  of_sort += count;
}

void ChainPlan::add(const TableCounts& counts, PassTables& pass) {
  const PricedList direct(SlotKind::code, counts.codes);
  TableLists result{counts.first_context, false, direct.count, 0,
                    static_cast<std::uint32_t>(lists.size())};
  const std::uint64_t others = counts.others();
  if (counts.fits_gaps && others + 2 * counts.larger() <= direct.count) {
    const PricedList gaps(SlotKind::gap, counts.gaps);
    const PricedList inner(SlotKind::inner_gap, counts.inner_gaps);
    const PricedList larger(SlotKind::magnitude, magnitude_counts(counts.codes));
    const Cost of_count = static_cast<Cost>(count_bits(others)) << cost_bits;
    if (gaps.cost + inner.cost + larger.cost + of_count < direct.cost) {
      result.by_gaps = true;
      result.codes = others;
      result.larger = larger.count;
      cost += gaps.cost + inner.cost + larger.cost + of_count;
      for (const PricedList* list : {&gaps, &inner, &larger}) {
        add_list(list->kind, list->count, list->table);
      }
      pass.push_back(result);
      return;
    }
  }
  cost += direct.cost;
  add_list(SlotKind::code, direct.count, direct.table);
  pass.push_back(result);
}

ChainPlan ChainPlan::choose(std::span<const std::vector<TableCounts>> passes) {
  ChainPlan plan;
  for (const std::vector<TableCounts>& tables : passes) {
    PassTables& pass = plan.passes.emplace_back();
    const bool silent = std::all_of(tables.begin(), tables.end(),
                                    [](const TableCounts& t) { return t.others() == 0; });
    if (silent) continue;
    for (const TableCounts& counts : tables) plan.add(counts, pass);
  }
  return plan;
}

void ChainPlan::append(const ChainPlan& behind) {
  for (PassTables pass : behind.passes) {
    for (TableLists& table : pass) table.first_list += static_cast<std::uint32_t>(lists.size());
    passes.push_back(std::move(pass));
  }
  for (std::size_t i = 0; i < behind.lists.size(); ++i) {
    add_list(behind.lists[i].kind, behind.lists[i].count, behind.tables[i]);
  }
  cost += behind.cost;
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

ChainFrame frame_segments(const AnsParams& params, const ChainPlan& plan,
                          std::span<const PassShape> shapes,
                          std::span<const std::uint32_t> segment_bytes) {
  std::vector<std::uint32_t> bits(segment_bytes.size());
  std::transform(segment_bytes.begin(), segment_bytes.end(), bits.begin(),
                 [](std::uint32_t bytes) { return 8 * bytes; });
  BitWriter head;
  plan.write(shapes, head);
  return {encode_index(params.index, params.partition, bits), head.take()};
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
