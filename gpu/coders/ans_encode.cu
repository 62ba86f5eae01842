#include <algorithm>
#include <numeric>

#include "gpu/coders/ans.cuh"
#include "gpu/coders/ans_gaps.cuh"
#include "gpu/coders/ans_segments.cuh"
#include "gpu/coders/table_order.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

constexpr std::uint64_t most_codes = std::uint64_t{1} << 32;  ///< exclusive

/// Sorts codes by table.
struct SortCodes {
  const QuantCode* const* codes;  ///< [pass]
  QuantCode* sorted;

  using Source = const QuantCode*;
  __device__ Source source_of(std::uint32_t pass, std::uint32_t /*table*/) const {
    return codes[pass];
  }
  __device__ QuantCode load(Source source, std::uint32_t i, std::uint32_t /*place*/) const {
    return source[i];
  }
  __device__ void store(std::uint32_t /*i*/, std::uint32_t place, QuantCode code) const {
    sorted[place] = code;
  }
};

struct PassLists {
  PassSymbols symbols;
  std::vector<TableCounts> counts;
  std::vector<SparseCodes> tables;
  std::vector<GapLists> gaps;    ///< of tables that may use them
  QuantCode* ordered = nullptr;  ///< by table
};

class FrameLists {
 public:
  FrameLists(DeviceContext& gpu, const AnsParams& params, std::span<const LevelSymbols> levels)
      : gpu_(gpu), centre_(params.centre) {
    std::uint64_t codes = 0;
    for (const LevelSymbols& level : levels) {
      for (const PassSymbols& symbols : level) {
        passes_.push_back({symbols, {}, {}, {}, symbols.codes});
        codes += symbols.count;
      }
      level_sizes_.push_back(level.size());
    }
    if (codes >= most_codes) {
      throw DeviceError("a frame has too many quant-codes for `ans` on a GPU", Setting::frame_size);
    }
    order();
    split();
    count_gaps();
    choose();
  }

  const std::vector<ChainPlan>& plans() const { return plans_; }

  FrameSlotsBuilder slots(std::uint64_t& raw_bits) const {
    FrameSlotsBuilder builder;
    std::size_t first = 0;
    for (std::size_t level = 0; level < plans_.size(); ++level) {
      const ChainPlan& plan = plans_[level];
      std::vector<FrameList> values;
      for (std::size_t i = 0; i < plan.passes.size(); ++i) {
        add_values(passes_[first + i], plan.passes[i], values, raw_bits);
      }
      builder.add(plan, [&](const SlotList& list) {
        return values[static_cast<std::size_t>(&list - plan.lists.data())];
      });
      first += level_sizes_[level];
    }
    return builder;
  }

 private:
  void order() {
    std::vector<PassSymbols> symbols;
    for (const PassLists& pass : passes_) symbols.push_back(pass.symbols);
    const auto counts = count_tokens(gpu_, symbols, centre_);
    std::vector<ContextTables> fits(passes_.size());
    gpu_.host().for_each(passes_.size(), [&](std::size_t i) {
      fits[i] = ContextTables::fit(counts[i]);
      passes_[i].counts = table_counts(counts[i], fits[i]);
    });
    std::vector<OrderedPass> ordered;
    std::vector<std::uint64_t> sizes;
    std::vector<const QuantCode*> codes;
    std::vector<PassLists*> moved;
    std::uint64_t all_counts = 0;
    std::uint64_t all_codes = 0;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      PassLists& pass = passes_[i];
      if (pass.counts.size() == 1 || pass.symbols.contexts == nullptr || are_silent(pass.counts))
        continue;
      ordered.push_back(order_of(pass, fits[i], all_counts));
      sizes.push_back(pass.symbols.count);
      codes.push_back(pass.symbols.codes);
      moved.push_back(&pass);
      all_counts += ordered.back().counts();
      all_codes += pass.symbols.count;
    }
    if (moved.empty()) return;
    auto* const sorted = gpu_.take<QuantCode>(all_codes);
    CopyList uploads;
    const ManyPasses all{upload(gpu_, ordered.data(), ordered.size(), uploads),
                         tile_ranges(gpu_, sizes, TableOrderPolicy::tile_codes, uploads)};
    const SortCodes sort{upload(gpu_, codes.data(), codes.size(), uploads), sorted};
    uploads.run(gpu_.stream());
    auto* const of_tiles = gpu_.take<std::uint32_t>(all_counts);
    auto* const places = gpu_.take<std::uint64_t>(all_counts + 1);
    count_tables<<<all.tiles.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(all, of_tiles);
    check_launch("count_tables");
    exclusive_sums(gpu_, of_tiles, all_counts, places);
    move_codes<<<all.tiles.tiles, TableOrderPolicy::threads, 0, gpu_.stream()>>>(all, places, sort);
    check_launch("move_codes");
    std::uint64_t first = 0;
    for (PassLists* const pass : moved) {
      pass->ordered = sorted + first;
      first += pass->symbols.count;
    }
  }

  static OrderedPass order_of(const PassLists& pass, const ContextTables& contexts,
                              std::uint64_t first_count) {
    OrderedPass order;
    order.contexts = pass.symbols.contexts;
    order.codes = static_cast<std::uint32_t>(pass.symbols.count);
    order.tables = static_cast<std::uint32_t>(pass.counts.size());
    order.tiles = ceil_div(order.codes, TableOrderPolicy::tile_codes);
    order.first_count = first_count;
    std::copy(contexts.table_of.begin(), contexts.table_of.end(), order.table_of);
    return order;
  }

  void split() {
    for (PassLists& pass : passes_) {
      QuantCode* codes = pass.ordered;
      for (const TableCounts& counts : pass.counts) {
        pass.tables.push_back({codes, counts.symbols(), counts.others(), counts.larger()});
        codes += counts.symbols();
      }
      pass.gaps.resize(pass.tables.size());
    }
  }

  void count_gaps() {
    std::vector<SparseCodes> sparse;
    std::vector<std::pair<GapLists*, TableCounts*>> found_for;
    for (PassLists& pass : passes_) {
      if (are_silent(pass.counts)) continue;
      for (std::size_t t = 0; t < pass.tables.size(); ++t) {
        if (!pass.counts[t].may_pay_by_gaps()) continue;
        sparse.push_back(pass.tables[t]);
        found_for.emplace_back(&pass.gaps[t], &pass.counts[t]);
      }
    }
    if (sparse.empty()) return;
    const FoundGaps found = find_gaps(gpu_, sparse, centre_);
    gpu_.sync();
    for (std::size_t i = 0; i < found_for.size(); ++i) {
      const auto& [lists, counts] = found_for[i];
      *lists = found.lists[i];
      counts->fits_gaps = found.counts[i].too_long == 0;
      counts->gaps = found.counts[i].gaps;
      counts->inner_gaps = found.counts[i].inner_gaps;
    }
  }

  void choose() {
    std::vector<std::vector<PricedTable>> priced(passes_.size());
    std::vector<std::pair<const TableCounts*, PricedTable*>> all;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      if (are_silent(passes_[i].counts)) continue;
      priced[i].resize(passes_[i].counts.size());
      for (std::size_t t = 0; t < priced[i].size(); ++t) {
        all.emplace_back(&passes_[i].counts[t], &priced[i][t]);
      }
    }
    gpu_.host().for_each(all.size(),
                         [&](std::size_t i) { *all[i].second = PricedTable::of(*all[i].first); });
    std::span<const std::vector<PricedTable>> rest(priced);
    for (const std::size_t size : level_sizes_) {
      plans_.push_back(ChainPlan::of(rest.first(size)));
      rest = rest.subspan(size);
    }
  }

  static void add_values(const PassLists& pass, const PassTables& tables,
                         std::vector<FrameList>& values, std::uint64_t& raw_bits) {
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const TableLists& table = tables[t];
      raw_bits += raw_bits_of(table, pass.counts[t]);
      const auto add = [&](QuantCode* codes, std::uint32_t* numbers) {
        values.push_back({0, 0, SlotKind::code, codes, numbers});
      };
      if (table.codes != 0) {
        if (table.by_gaps) {
          add(nullptr, pass.gaps[t].gaps);
        } else {
          add(pass.tables[t].codes, nullptr);
        }
      }
      if (table.larger == 0) continue;
      add(nullptr, pass.gaps[t].inner_gaps);
      add(nullptr, pass.gaps[t].magnitudes);
    }
  }

  DeviceContext& gpu_;
  std::uint32_t centre_;
  std::vector<PassLists> passes_;  ///< of all levels
  std::vector<std::size_t> level_sizes_;
  std::vector<ChainPlan> plans_;  ///< [level]
};

std::vector<PassShape> shapes_of(const LevelSymbols& level) {
  std::vector<PassShape> shapes;
  for (const PassSymbols& pass : level) shapes.push_back(pass.shape);
  return shapes;
}

std::vector<FrequencyTable> tables_of(std::span<const ChainPlan> plans) {
  std::vector<FrequencyTable> tables;
  std::size_t count = 0;
  for (const ChainPlan& plan : plans) count += plan.tables.size();
  tables.reserve(count);
  for (const ChainPlan& plan : plans) {
    tables.insert(tables.end(), plan.tables.begin(), plan.tables.end());
  }
  return tables;
}

/// By level.
std::vector<std::vector<std::byte>> heads_of(std::span<const ChainPlan> plans,
                                             std::span<const LevelSymbols> levels) {
  std::vector<std::vector<std::byte>> heads;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    heads.push_back(chain_head(plans[level], shapes_of(levels[level])));
  }
  return heads;
}

struct CodesSection {
  std::byte* segments;
  Bytes bytes;
};

CodesSection make_section(DeviceContext& gpu, std::span<const std::byte> head,
                          ByteCount segment_bytes, CopyList& uploads) {
  const ByteCount odd = head.size() % 2;  // aligns segments to 2
  const ByteCount size = head.size() + segment_bytes;
  std::byte* const start = gpu.take<std::byte>(size + odd) + odd;
  uploads.add({start, stage(gpu, head.data(), head.size()), head.size()});
  return {start + head.size(), {start, size}};
}

}  // namespace

std::vector<AnsStream> ans_encode(DeviceContext& gpu, const AnsParams& params,
                                  std::span<const LevelSymbols> levels) {
  const FrameLists frame(gpu, params, levels);
  std::uint64_t raw_bits = 0;
  const FrameSlotsBuilder builder = frame.slots(raw_bits);
  std::vector<AnsStream> streams(levels.size());
  if (builder.segments() == 0) return streams;
  CopyList uploads;
  const FrameSlots slots = builder.on_device(gpu, uploads);
  const CodedSegments coded =
      encode_segments(gpu, slots, tables_of(frame.plans()), raw_bits, params.centre, uploads);
  const std::vector<std::vector<std::byte>> heads = heads_of(frame.plans(), levels);
  gpu.sync();
  std::span<const std::uint32_t> sizes(coded.bytes, slots.segment_count);
  std::vector<std::byte*> places;
  places.reserve(sizes.size());
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const ChainPlan& plan = frame.plans()[level];
    if (plan.slots() == 0) continue;
    const auto own = sizes.first(plan.segments());
    sizes = sizes.subspan(own.size());
    const std::vector<std::byte> index = chain_index(params, own);
    const ByteCount segment_bytes = std::accumulate(own.begin(), own.end(), ByteCount{0});
    const CodesSection section = make_section(gpu, heads[level], segment_bytes, uploads);
    streams[level].index = {upload(gpu, index.data(), index.size(), uploads), index.size()};
    streams[level].codes = section.bytes;
    std::byte* at = section.segments;
    for (const std::uint32_t size : own) {
      places.push_back(at);
      at += size;
    }
  }
  store_segments(gpu, slots, coded, places, uploads);
  return streams;
}

std::uint64_t ans_bytes(DeviceContext& gpu, const AnsParams& params, const LevelSymbols& level) {
  const FrameLists frame(gpu, params, std::span(&level, 1));
  return ceil_div(frame.plans().front().cost >> cost_bits, 8);
}

}  // namespace cuszi::gpu
