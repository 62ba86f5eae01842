#include <algorithm>
#include <optional>

#include "core/field/chunk_index.hpp"
#include "gpu/coders/ans_gaps.cuh"
#include "gpu/coders/ans_segments.cuh"
#include "gpu/coders/table_order.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned most_spread_blocks = 1024;               ///< per table
constexpr ByteCount usual_head_bytes = ByteCount{1} << 16;  ///< more than most heads

[[noreturn]] void refuse_counts() {
  throw ArchiveError("the contexts of a pass do not match the number of its codes");
}

/// `index` and `codes_head` are on the host.
struct LevelOnHost {
  Bytes index;
  Bytes codes_head;
  Bytes codes;  ///< on the device
};

struct ReadChain {
  ChainPlan plan;
  Bytes segments;  ///< on the device
  std::vector<ByteCount> starts;
};

ReadChain read_chain(const AnsParams& params, const LevelOnHost& level,
                     std::span<const PassShape> shapes) {
  ReadChain chain;
  BitReader head(level.codes_head, "the quant-codes");
  chain.plan = ChainPlan::read(shapes, head);
  chain.segments = level.codes.subspan(head.bytes_read());
  const std::uint64_t segments = chain.plan.segments();
  if (segments > chain.segments.size() / sizeof(std::uint32_t)) {
    throw ArchiveError("the quant-codes are truncated");
  }
  for (const BitCount start : decode_index(params.index, params.partition, level.index, segments,
                                           chain.segments.size() * 8)) {
    chain.starts.push_back(start / 8);
  }
  return chain;
}

/// Tries with the first bytes of the codes; longer heads are downloaded on demand.
std::optional<std::vector<ReadChain>> try_to_read(const AnsParams& params,
                                                  std::span<const CodedLevel> levels,
                                                  std::span<const LevelOnHost> on_host) {
  std::vector<ReadChain> chains;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    ReadChain& chain = chains.emplace_back();
    if (on_host[i].codes.empty()) {
      chain.plan.passes.resize(levels[i].shapes.size());
      continue;
    }
    try {
      chain = read_chain(params, on_host[i], levels[i].shapes);
    } catch (const ArchiveError&) {
      if (on_host[i].codes_head.size() < on_host[i].codes.size()) return std::nullopt;
      throw;
    }
  }
  return chains;
}

Bytes bring_to_host(DeviceContext& gpu, Bytes bytes, CopyList& list) {
  return {download(gpu, bytes.data(), bytes.size(), list), bytes.size()};
}

std::vector<LevelOnHost> bring_levels(DeviceContext& gpu, std::span<const CodedLevel> levels,
                                      ByteCount most_head_bytes) {
  std::vector<LevelOnHost> all;
  CopyList downloads;
  for (const CodedLevel& level : levels) {
    const Sections& sections = level.sections.front();
    const Bytes codes = sections.find(SectionId::codes);
    const Bytes head = codes.first(std::min<ByteCount>(codes.size(), most_head_bytes));
    all.push_back({bring_to_host(gpu, sections.find(SectionId::index), downloads),
                   bring_to_host(gpu, head, downloads), codes});
  }
  downloads.run(gpu.stream());
  gpu.sync();
  return all;
}

std::vector<ReadChain> read_chains(DeviceContext& gpu, const AnsParams& params,
                                   std::span<const CodedLevel> levels) {
  auto chains = try_to_read(params, levels, bring_levels(gpu, levels, usual_head_bytes));
  if (!chains) chains = try_to_read(params, levels, bring_levels(gpu, levels, ~ByteCount{0}));
  return std::move(*chains);
}

void add_runs(const ReadChain& chain, std::uint32_t first, std::vector<SegmentRun>& runs) {
  const auto segments = static_cast<std::uint32_t>(chain.plan.segments());
  const std::byte* const begin = chain.segments.data();
  const std::byte* const end = begin + chain.segments.size();
  if (chain.starts.size() < segments) {
    runs.push_back({begin, end, first, segments});
    return;
  }
  for (std::uint32_t i = 0; i < segments; ++i) {
    const ByteCount next = i + 1 < segments ? chain.starts[i + 1] : chain.segments.size();
    if (chain.starts[i] > next || next > chain.segments.size()) {
      throw ArchiveError("an ANS segment does not end where it should");
    }
    runs.push_back({begin + chain.starts[i], begin + next, first + i, 1});
  }
}

struct FrameValues {
  QuantCode* codes;
  std::uint32_t* numbers;
};

FrameValues take_values(DeviceContext& gpu, std::span<const ReadChain> chains) {
  std::uint64_t codes = 0;
  std::uint64_t numbers = 0;
  for (const ReadChain& chain : chains) {
    codes += chain.plan.codes;
    numbers += chain.plan.numbers;
  }
  return {gpu.take<QuantCode>(codes), gpu.take<std::uint32_t>(numbers)};
}

/// The codes of a table; tables by gaps are added to `gaps`.
TablePlaces places_of(const TableLists& table, const SlotList* lists, const FrameValues& values,
                      std::vector<CodedGaps>& gaps) {
  TablePlaces places{nullptr, nullptr, static_cast<std::uint32_t>(table.codes), table.by_gaps};
  if (!table.by_gaps) {
    if (table.codes != 0) places.codes = values.codes + lists[0].first_value;
    return places;
  }
  CodedGaps& coded = gaps.emplace_back();
  coded.others = static_cast<std::uint32_t>(table.codes);
  coded.larger = static_cast<std::uint32_t>(table.larger);
  if (table.codes != 0) coded.lists.gaps = values.numbers + lists[0].first_value;
  if (table.larger != 0) {
    coded.lists.inner_gaps = values.numbers + lists[1].first_value;
    coded.lists.magnitudes = values.numbers + lists[2].first_value;
  }
  return places;
}

__global__ void fill_codes(QuantCode* codes, std::uint64_t count, QuantCode code) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) codes[i] = code;
}

/// Scatters codes other than the centre, and verifies the counts; one row of thread blocks per
/// table.
__global__ void __launch_bounds__(ItemPolicy::threads)
    spread_others(const TablePlaces* tables, TableStarts starts, QuantCode* sorted,
                  std::uint32_t* flaws) {
  const TablePlaces table = tables[blockIdx.y];
  const std::uint64_t start = starts(blockIdx.y);
  const std::uint64_t count = starts(blockIdx.y + 1) - start;
  if (!table.by_gaps) {
    if (table.count != count) atomicOr(flaws, wrong_code_counts);
    return;
  }
  for (std::uint64_t i = ItemPolicy::first(); i < table.count; i += ItemPolicy::step()) {
    if (table.positions[i] < count) {
      sorted[start + table.positions[i]] = table.codes[i];
    } else {
      atomicOr(flaws, wrong_code_counts);
    }
  }
}

struct GatherCodes {
  const TablePlaces* tables;
  TableStarts starts;
  const QuantCode* sorted;  ///< tables by gaps
  QuantCode* codes;

  struct Source {
    const QuantCode* codes;  ///< null if the count is wrong
    std::uint32_t first;     ///< position
  };
  __device__ Source source_of(std::uint32_t /*pass*/, std::uint32_t number) const {
    const TablePlaces table = tables[number];
    if (table.by_gaps) return {sorted, 0};
    const std::uint64_t first = starts(number);
    const bool is_whole = starts(number + 1) - first == table.count;
    return {is_whole ? table.codes : nullptr, static_cast<std::uint32_t>(first)};
  }
  __device__ QuantCode load(const Source& source, std::uint32_t /*i*/, std::uint32_t place) const {
    return source.codes == nullptr ? outlier_code : source.codes[place - source.first];
  }
  __device__ void store(std::uint32_t i, std::uint32_t /*place*/, QuantCode code) const {
    codes[i] = code;
  }
};

}  // namespace

AnsCodes::AnsCodes(DeviceContext& gpu, const AnsParams& params, std::span<const CodedLevel> levels)
    : gpu_(gpu), centre_(static_cast<QuantCode>(params.centre)) {
  const std::vector<ReadChain> chains = read_chains(gpu, params, levels);
  FrameValues values = take_values(gpu, chains);
  FrameSlotsBuilder builder;
  std::vector<SegmentRun> runs;
  std::vector<FrequencyTable> frequencies;
  std::vector<CodedGaps> gaps;
  std::vector<TablePlaces> places;  // of all passes
  for (const ReadChain& chain : chains) {
    const ChainPlan& plan = chain.plan;
    add_runs(chain, static_cast<std::uint32_t>(builder.segments()), runs);
    builder.add(plan, [&](const SlotList& list) {
      return FrameList{0, 0, list.kind, values.codes + list.first_value,
                       values.numbers + list.first_value};
    });
    frequencies.insert(frequencies.end(), plan.tables.begin(), plan.tables.end());
    for (const PassTables& tables : plan.passes) {
      PassPlaces& pass = passes_.emplace_back();
      for (const TableLists& table : tables) {
        pass.first_contexts.push_back(table.first_context);
        pass.tables.push_back(places_of(table, plan.lists.data() + table.first_list, values, gaps));
      }
    }
    values.codes += plan.codes;
    values.numbers += plan.numbers;
  }
  CopyList uploads;
  const FrameSlots slots = builder.on_device(gpu, uploads);
  decode_segments(gpu, slots, frequencies, runs, params.centre, uploads);
  const std::vector<PlacedOthers> others = expand_gaps(gpu, gaps, params.centre);
  auto next = others.begin();
  for (PassPlaces& pass : passes_) {
    for (TablePlaces& table : pass.tables) {
      if (!table.by_gaps) continue;
      table.codes = next->codes;
      table.positions = next->positions;
      ++next;
    }
    places.insert(places.end(), pass.tables.begin(), pass.tables.end());
  }
  const TablePlaces* on_device = upload(gpu, places.data(), places.size());
  for (PassPlaces& pass : passes_) {
    pass.on_device = on_device;
    on_device += pass.tables.size();
  }
}

void AnsCodes::place(std::size_t number, const std::uint8_t* contexts, std::uint64_t count,
                     QuantCode* codes) const {
  const PassPlaces& pass = passes_[number];
  const auto tables = static_cast<std::uint32_t>(pass.tables.size());
  if (contexts == nullptr && tables > 1) refuse_counts();
  if (count == 0) {
    for (const TablePlaces& table : pass.tables) {
      if (table.count != 0) refuse_counts();
    }
    return;
  }
  if (tables < 2) {
    const TablePlaces table = tables == 0 ? TablePlaces{nullptr, nullptr, 0, true} : pass.tables[0];
    if (!table.by_gaps) {
      if (table.count != count) refuse_counts();
      start_copy(gpu_, codes, table.codes, count);
      return;
    }
    launch_items(gpu_, "fill_codes", count, fill_codes, codes, count, centre_);
    if (table.count != 0) spread(pass, {nullptr, 0, count}, codes);
    return;
  }
  const OrderedPass order = order_of(pass, contexts, count);
  auto* const of_tiles = gpu_.take<std::uint32_t>(order.counts());
  auto* const places = gpu_.take<std::uint64_t>(order.counts() + 1);
  const TableStarts starts{places, order.tiles, count};
  QuantCode* const sorted = pass.any_by_gaps() ? gpu_.take<QuantCode>(count) : nullptr;
  count_tables<<<order.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(
      SinglePass{order}, of_tiles, sorted, centre_);
  check_launch("count_tables");
  exclusive_sums(gpu_, of_tiles, order.counts(), places);
  spread(pass, starts, sorted);
  move_codes<<<order.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(
      SinglePass{order}, places, GatherCodes{pass.on_device, starts, sorted, codes});
  check_launch("move_codes");
}

OrderedPass AnsCodes::order_of(const PassPlaces& pass, const std::uint8_t* contexts,
                               std::uint64_t count) {
  OrderedPass order;
  order.contexts = contexts;
  order.codes = static_cast<std::uint32_t>(count);
  order.tables = static_cast<std::uint32_t>(pass.tables.size());
  order.tiles = ceil_div(order.codes, TableOrderPolicy::tile_codes);
  for (std::uint32_t t = 1; t < order.tables; ++t) {
    std::fill(order.table_of + pass.first_contexts[t], order.table_of + most_tables,
              static_cast<std::uint8_t>(t));
  }
  return order;
}

void AnsCodes::spread(const PassPlaces& pass, const TableStarts& starts, QuantCode* sorted) const {
  std::uint64_t most = 1;
  for (const TablePlaces& table : pass.tables) {
    if (table.by_gaps) most = std::max<std::uint64_t>(most, table.count);
  }
  const dim3 grid(std::min(blocks_for(most, ItemPolicy::threads), most_spread_blocks),
                  static_cast<unsigned>(pass.tables.size()));
  spread_others<<<grid, ItemPolicy::threads, 0, gpu_.stream()>>>(pass.on_device, starts, sorted,
                                                                 gpu_.flaws());
  check_launch("spread_others");
}

}  // namespace cuszi::gpu
