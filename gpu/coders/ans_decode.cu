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

constexpr unsigned most_spread_blocks = 1024;               ///< of a table
constexpr ByteCount usual_head_bytes = ByteCount{1} << 16;  ///< more than a head mostly has

[[noreturn]] void refuse_counts() {
  throw ArchiveError("the contexts of a pass do not agree with the number of its codes");
}

/// A level's sections, as far as the host has them.
struct LevelOnHost {
  Bytes index;
  Bytes codes_head;
  Bytes codes;  ///< all, on the device
};

/// A chain whose head has been read.
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

/// All of a head is read before anything else is done with it, so a longer part of the codes is
/// brought only if it is needed.
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

/// Where the segments of a chain are, of which `first` is the number of the first.
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

/// The values of all chains, by sort.
struct FrameValues {
  QuantCode* codes;
  std::uint32_t* numbers;
};

/// The room of the codes of a list: those of the next begin at an address that 8 divides.
std::uint64_t room_of(const SlotList& list) {
  constexpr std::uint64_t unit = 8 / sizeof(QuantCode);
  return list.kind == SlotKind::code ? ceil_div(list.count, unit) * unit : 0;
}

FrameValues take_values(DeviceContext& gpu, std::span<const ReadChain> chains) {
  std::uint64_t codes = 0;
  std::uint64_t numbers = 0;
  for (const ReadChain& chain : chains) {
    for (const SlotList& list : chain.plan.lists) codes += room_of(list);
    numbers += chain.plan.numbers;
  }
  return {gpu.take<QuantCode>(codes), gpu.take<std::uint32_t>(numbers)};
}

/// Where the values of each list of a chain are.
std::vector<FrameList> lists_of(const ChainPlan& plan, FrameValues values) {
  std::vector<FrameList> lists;
  for (const SlotList& list : plan.lists) {
    lists.push_back({0, 0, list.kind, values.codes, values.numbers + list.first_value});
    values.codes += room_of(list);
  }
  return lists;
}

/// Where the codes of a table are, if it is not by gaps; if it is, its lists are added to `gaps`.
TablePlaces places_of(const TableLists& table, const FrameList* lists,
                      std::vector<CodedGaps>& gaps) {
  TablePlaces places{nullptr, nullptr, static_cast<std::uint32_t>(table.codes), table.by_gaps};
  if (!table.by_gaps) {
    if (table.codes != 0) places.codes = lists[0].codes;
    return places;
  }
  CodedGaps& coded = gaps.emplace_back();
  coded.others = static_cast<std::uint32_t>(table.codes);
  coded.larger = static_cast<std::uint32_t>(table.larger);
  if (table.codes != 0) coded.lists.gaps = lists[0].numbers;
  if (table.larger != 0) {
    coded.lists.inner_gaps = lists[1].numbers;
    coded.lists.magnitudes = lists[2].numbers;
  }
  return places;
}

// Placing.

__global__ void fill_codes(QuantCode* codes, std::uint64_t count, QuantCode code) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) codes[i] = code;
}

/// Puts codes that differ from the centre in their places among those of their table, and checks
/// how many codes tables have; a row of thread blocks per table.
__global__ void __launch_bounds__(ItemPolicy::threads)
    spread_others(const TablePlaces* tables, TableStarts starts, QuantCode* sorted,
                  std::uint32_t* flaws) {
  const TablePlaces table = tables[blockIdx.y];
  const std::uint64_t start = starts.aligned(blockIdx.y);
  const std::uint64_t count = starts(blockIdx.y + 1) - starts(blockIdx.y);
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

/// Takes each code from where it stands in the order of tables.
struct GatherCodes {
  using Value = QuantCode;

  const TablePlaces* tables;
  TableStarts starts;
  const QuantCode* sorted;  ///< of tables by gaps
  QuantCode* codes;

  struct Source {
    const QuantCode* codes;  ///< none if there are not as many as contexts say
    std::uint32_t first;     ///< place
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

/// Fills the places of the codes of tables by gaps; a row of thread blocks per table.
__global__ void __launch_bounds__(ItemPolicy::threads)
    fill_gaps(const TablePlaces* tables, TableStarts starts, QuantCode* sorted, QuantCode centre) {
  if (!tables[blockIdx.y].by_gaps) return;
  const std::uint64_t first = starts.aligned(blockIdx.y);
  const std::uint64_t count = starts(blockIdx.y + 1) - starts(blockIdx.y);
  for (std::uint64_t i = ItemPolicy::first(); i < count; i += ItemPolicy::step()) {
    sorted[first + i] = centre;
  }
}

/// Tells where each block stands in the order of tables.
struct PlaceBlocks {
  using Value = const QuantCode*;

  const TablePlaces* tables;
  TableStarts starts;
  const QuantCode* sorted;    ///< of tables by gaps
  const QuantCode* outliers;  ///< a block of them
  const QuantCode** blocks;

  struct Source {
    const QuantCode* codes;  ///< none if there are not as many as contexts say
    std::uint32_t first;     ///< place
  };
  __device__ Source source_of(std::uint32_t /*pass*/, std::uint32_t number) const {
    const TablePlaces table = tables[number];
    const std::uint64_t first = starts(number);
    const bool is_whole = starts(number + 1) - first == table.count;
    const QuantCode* const codes = table.by_gaps ? sorted + starts.aligned(number)
                                   : is_whole    ? table.codes
                                                 : nullptr;
    return {codes, static_cast<std::uint32_t>(first)};
  }
  __device__ Value load(const Source& source, std::uint32_t /*i*/, std::uint32_t place) const {
    return source.codes == nullptr ? outliers : source.codes + (place - source.first);
  }
  __device__ void store(std::uint32_t i, std::uint32_t /*place*/, Value block) const {
    blocks[i] = block;
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
    const std::vector<FrameList> lists = lists_of(plan, values);
    builder.add(plan, [&](const SlotList& list) {
      return lists[static_cast<std::size_t>(&list - plan.lists.data())];
    });
    frequencies.insert(frequencies.end(), plan.tables.begin(), plan.tables.end());
    for (const PassTables& tables : plan.passes) {
      PassPlaces& pass = passes_.emplace_back();
      for (const TableLists& table : tables) {
        pass.first_contexts.push_back(table.first_context);
        pass.tables.push_back(places_of(table, lists.data() + table.first_list, gaps));
      }
    }
    for (const SlotList& list : plan.lists) values.codes += room_of(list);
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

PlacedCodes AnsCodes::place(std::size_t number, const CodeContexts& contexts, std::uint64_t count,
                            QuantCode* codes) const {
  const PassPlaces& pass = passes_[number];
  const PlacedCodes in_row{codes};
  const auto tables = static_cast<std::uint32_t>(pass.tables.size());
  if (contexts.contexts == nullptr && tables > 1) refuse_counts();
  if (count == 0) {
    for (const TablePlaces& table : pass.tables) {
      if (table.count != 0) refuse_counts();
    }
    return in_row;
  }
  if (tables < 2) {
    const TablePlaces table = tables == 0 ? TablePlaces{nullptr, nullptr, 0, true} : pass.tables[0];
    if (!table.by_gaps) {
      if (table.count != count) refuse_counts();
      start_copy(gpu_, codes, table.codes, count);
      return in_row;
    }
    launch_items(gpu_, "fill_codes", count, fill_codes, codes, count, centre_);
    if (table.count != 0) spread(pass, {nullptr, 0, count}, codes);
    return in_row;
  }
  const OrderedPass order = order_of(pass, contexts, count);
  auto* const of_tiles = gpu_.take<std::uint32_t>(order.counts());
  auto* const places = gpu_.take<std::uint64_t>(order.counts() + 1);
  const TableStarts starts{places, order.tiles, count, contexts.by_blocks};
  QuantCode* const sorted =
      pass.any_by_gaps() ? gpu_.take<QuantCode>(count + block_codes) : nullptr;
  count_tables<<<order.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(
      SinglePass{order}, of_tiles, contexts.by_blocks ? nullptr : sorted, centre_);
  check_launch("count_tables");
  exclusive_sums(gpu_, of_tiles, order.counts(), places);
  if (contexts.by_blocks && sorted != nullptr) {
    fill_gaps<<<spread_grid(pass, count), ItemPolicy::threads, 0, gpu_.stream()>>>(
        pass.on_device, starts, sorted, centre_);
    check_launch("fill_gaps");
  }
  spread(pass, starts, sorted);
  if (contexts.by_blocks) {
    auto* const outliers = gpu_.take_zeroed<QuantCode>(block_codes);
    auto* const blocks = gpu_.take<const QuantCode*>(order.items());
    static_assert(outlier_code == 0);
    move_codes<<<order.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(
        SinglePass{order}, places, PlaceBlocks{pass.on_device, starts, sorted, outliers, blocks});
    check_launch("move_codes");
    return {nullptr, blocks};
  }
  move_codes<<<order.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(
      SinglePass{order}, places, GatherCodes{pass.on_device, starts, sorted, codes});
  check_launch("move_codes");
  return in_row;
}

OrderedPass AnsCodes::order_of(const PassPlaces& pass, const CodeContexts& contexts,
                               std::uint64_t count) {
  OrderedPass order;
  order.contexts = contexts.contexts;
  order.codes = static_cast<std::uint32_t>(count);
  if (contexts.by_blocks) order.codes_of_item = block_codes;
  order.tables = static_cast<std::uint32_t>(pass.tables.size());
  order.tiles = ceil_div(order.items(), TableOrderPolicy::tile_codes);
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
  spread_others<<<spread_grid(pass, most), ItemPolicy::threads, 0, gpu_.stream()>>>(
      pass.on_device, starts, sorted, gpu_.flaws());
  check_launch("spread_others");
}

dim3 AnsCodes::spread_grid(const PassPlaces& pass, std::uint64_t most) {
  return {std::min(blocks_for(most, ItemPolicy::threads), most_spread_blocks),
          static_cast<unsigned>(pass.tables.size())};
}

}  // namespace cuszi::gpu
