#include "core/signs/signs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/base/bits.hpp"
#include "core/base/error.hpp"
#include "core/coders/symbol_lanes.hpp"

namespace cuszi {

namespace {

constexpr ByteCount padded(ByteCount bytes) { return ceil_div(bytes, 4) * 4; }

/// Signs mostly go on as expected, else as at the point before: a nibble is less likely by a factor
/// of 4 for each change of sign along it, and of 2 for each wrong point.
SymbolTable default_nibbles(std::uint32_t context) {
  std::uint64_t weights[token_places] = {};
  for (std::uint32_t wrong = 0; wrong < sign_symbols; ++wrong) {
    const std::uint32_t signs = context ^ wrong;  // relative to the point before
    const int changes = std::popcount((signs ^ signs << 1) & (sign_symbols - 1));
    weights[wrong] = (1U << 16) >> (2 * changes + std::popcount(wrong));
  }
  if (context == 0) weights[0] *= 4;
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, false, table.frequencies);
  return table;
}

/// Tiles differ from those before independently of each other.
SymbolTable default_changes(std::uint32_t number) {
  const std::uint32_t eighths = 2 * number + 1;  // of the cases
  std::uint64_t weights[token_places] = {};
  for (std::uint32_t changes = 0; changes < sign_symbols; ++changes) {
    weights[changes] = 1;
    for (std::uint32_t i = 0; i < tiles_of_group; ++i)
      weights[changes] *= (changes >> i & 1) != 0 ? eighths : 8 - eighths;
  }
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, false, table.frequencies);
  return table;
}

/// The symbols of a lane; none if it has no state.
std::vector<std::uint16_t> symbols_of_lane(const SignGrid& grid, const SignRun& run,
                                           const std::uint64_t* tiles) {
  std::vector<std::uint16_t> symbols;
  for (std::uint32_t group = 0; group < run.groups(); ++group)
    SignGroup(grid, run, tiles, group).for_each_symbol([&](std::uint32_t place) {
      symbols.push_back(static_cast<std::uint16_t>(place));
    });
  const auto idle = std::ranges::count(symbols, idle_symbol);
  if (!lane_has_state(symbols.size(), static_cast<std::uint64_t>(idle))) symbols.clear();
  return symbols;
}
using LaneSymbols = std::array<std::vector<std::uint16_t>, most_lanes>;

/// The symbols of the lanes of all segments.
std::vector<LaneSymbols> all_symbols(const SignGrid& grid, bool first_sign,
                                     const std::uint64_t* tiles, const ForEach& for_each) {
  std::vector<LaneSymbols> symbols(segments_of_signs(grid.tiles()));
  for_each(symbols.size(), [&](std::size_t i) {
    for (std::size_t lane = 0; lane < most_lanes; ++lane)
      symbols[i][lane] =
          symbols_of_lane(grid, SignRun(grid, i * most_lanes + lane, first_sign), tiles);
  });
  return symbols;
}

/// The shares of all symbols, by place.
std::vector<PackedSymbolShare> all_shares(const SignTables& tables) {
  std::vector<PackedSymbolShare> shares(sign_places);
  for (std::uint32_t i = 0; i < sign_tables; ++i) {
    const EncoderTable of_table = encoder_table(tables.of[i]);
    std::copy_n(of_table.begin(), sign_symbols, &shares[place_of_symbol(i, 0)]);
  }
  return shares;
}

std::vector<std::byte> encode_segment(const LaneSymbols& lanes, const PackedSymbolShare* shares) {
  std::array<std::uint32_t, most_lanes> states;
  states.fill(lane_start);
  std::size_t steps = 0;
  std::size_t all = 0;
  for (const auto& symbols : lanes) {
    steps = std::max(steps, symbols.size());
    all += symbols.size();
  }
  if (steps == 0) return {};
  WordsBackwards words(all + 1);
  for (std::size_t step = steps; step-- > 0;)
    for (std::size_t lane = most_lanes; lane-- > 0;) {
      const auto& symbols = lanes[lane];
      if (step < symbols.size()) words.put(shares[symbols[step]], states[lane]);
    }
  std::uint32_t present = 0;
  std::vector<std::uint32_t> of_present;
  for (std::size_t lane = 0; lane < most_lanes; ++lane) {
    if (lanes[lane].empty()) continue;
    present |= 1U << lane;
    of_present.push_back(states[lane]);
  }
  std::vector<std::byte> segment = words.segment(of_present);
  const Bytes first = std::as_bytes(std::span(&present, 1));
  segment.insert(segment.begin(), first.begin(), first.end());
  return segment;
}

/// Which lanes of a segment have a state, as bits.
std::uint32_t lanes_present(Bytes segment) {
  std::uint32_t present = 0;
  if (segment.size() >= sizeof present) std::memcpy(&present, segment.data(), sizeof present);
  if (present == 0) throw ArchiveError(chain_damage);
  return present;
}

void decode_segment(const SignGrid& grid, std::uint64_t number, bool first_sign,
                    const std::vector<DecoderTable>& tables, Bytes bytes, std::uint64_t* tiles) {
  const auto store = [&](std::uint64_t place, std::uint64_t tile) { tiles[place] = tile; };
  const std::uint32_t present = bytes.empty() ? 0 : lanes_present(bytes);
  std::vector<SignsForwards> lanes;  // that are present
  for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
    const SignRun run(grid, number * most_lanes + lane, first_sign);
    if ((present >> lane & 1) == 0) {
      store_idle(grid, run, store);
    } else {
      if (run.count == 0) throw ArchiveError(chain_damage);
      lanes.emplace_back(grid, run);
    }
  }
  if (lanes.empty()) return;
  SegmentWords words(bytes.subspan(sizeof present), static_cast<std::uint32_t>(lanes.size()));
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      SignsForwards& lane = lanes[i];
      if (lane.is_done()) continue;
      lane.take(words.take(tables[lane.table()], words.states[i]), store);
      is_done &= lane.is_done();
    }
    words.check();
  }
  words.check_end();
}

/// Calls each(begin, end) for parts of `count` items.
template <class Each>
void in_parts(std::uint64_t count, const ForEach& for_each, const Each& each) {
  constexpr std::uint64_t part = 4096;
  for_each(ceil_div(count, part),
           [&](std::size_t i) { each(i * part, std::min(count, (i + 1) * part)); });
}

struct SignCounts {
  std::uint64_t of[sign_tables][token_places] = {};

  void add(const std::vector<LaneSymbols>& segments) {
    for (const LaneSymbols& lanes : segments)
      for (const auto& symbols : lanes)
        for (const std::uint16_t place : symbols) ++of[place / sign_symbols][place % sign_symbols];
  }
  /// The tables that fit; returns the cost of what they code.
  Cost choose(SignTables& tables) const {
    Cost cost = 0;
    for (std::uint32_t i = 0; i < sign_tables; ++i)
      cost += choose_table(of[i], default_sign_tables().of[i].frequencies, false, tables.of[i]);
    return cost;
  }
};

}  // namespace

SignGrid SignGrid::of(const Dims& dims) {
  constexpr std::uint64_t narrow = 8;
  const Extents3 e = dims.as_3d();
  SignGrid grid;
  grid.width = e[2];
  if (e[0] == 1 && (e[1] == 1 || e[2] > narrow)) {
    grid.slices = e[1];
  } else {
    grid.height = e[1];
    grid.slices = e[0];
    grid.log2_of_tile_width = 3;
  }
  grid.across = ceil_div(grid.width, grid.tile_width());
  grid.columns = grid.across * ceil_div(grid.height, grid.tile_height());
  return grid;
}

const SignTables& default_sign_tables() {
  static const SignTables tables = [] {
    SignTables made{};
    for (std::uint32_t i = 0; i < nibble_tables; ++i) made.of[i] = default_nibbles(i);
    for (std::uint32_t i = 0; i < change_tables; ++i)
      made.of[nibble_tables + i] = default_changes(i);
    return made;
  }();
  return tables;
}

std::vector<std::byte> SignHead::write() const {
  BitWriter out;
  out.put(is_raw ? 1 : 0, 1);
  if (!is_raw) {
    out.put(first_sign ? 1 : 0, 1);
    for (const SymbolTable& table : tables.of) write_table(table, false, out);
  }
  std::vector<std::byte> bytes = out.take();
  bytes.resize(padded(bytes.size()));
  return bytes;
}

SignSection SignSection::read(Bytes section, Bytes begin, const SignGrid& grid) {
  BitReader in(begin, "the tables of signs");
  SignSection result;
  result.head.is_raw = in.get(1) != 0;
  if (!result.head.is_raw) {
    result.head.first_sign = in.get(1) != 0;
    for (std::uint32_t i = 0; i < sign_tables; ++i)
      result.head.tables.of[i] = read_table(in, default_sign_tables().of[i], false, sign_symbols);
  }
  const Bytes rest = section.subspan(std::min(section.size(), padded(in.bytes_read())));
  const ByteCount index =
      result.head.is_raw ? raw_sign_bytes(grid.points()) : 4 * segments_of_signs(grid.tiles());
  if (rest.size() < index || (result.head.is_raw && rest.size() != index))
    throw ArchiveError("the signs of a frame do not fill their section");
  (result.head.is_raw ? result.bits : result.sizes) = rest.first(index);
  result.segments = rest.subspan(index);
  return result;
}

std::vector<std::byte> encode_signs(std::span<const std::uint64_t> signs, const Dims& dims,
                                    const ForEach& for_each) {
  const SignGrid grid = SignGrid::of(dims);
  std::vector<std::uint64_t> tiles(grid.tiles());
  in_parts(tiles.size(), for_each, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) tiles[i] = gather_tile(grid, signs.data(), i);
  });
  SignHead head;
  head.first_sign = (signs[0] & 1) != 0;
  const auto symbols = all_symbols(grid, head.first_sign, tiles.data(), for_each);
  SignCounts counts;
  counts.add(symbols);
  head.is_raw = are_raw_signs(grid, counts.choose(head.tables));
  std::vector<std::byte> section = head.write();
  if (head.is_raw) {
    const Bytes bits = std::as_bytes(signs).first(raw_sign_bytes(grid.points()));
    section.insert(section.end(), bits.begin(), bits.end());
    return section;
  }
  const std::vector<PackedSymbolShare> shares = all_shares(head.tables);
  std::vector<std::vector<std::byte>> segments(symbols.size());
  for_each(segments.size(),
           [&](std::size_t i) { segments[i] = encode_segment(symbols[i], shares.data()); });
  std::vector<std::byte> chains;
  for (const auto& segment : segments) append_segment(segment, section, chains);
  section.insert(section.end(), chains.begin(), chains.end());
  return section;
}

std::vector<std::uint64_t> decode_signs(Bytes section, const Dims& dims, const ForEach& for_each) {
  const SignGrid grid = SignGrid::of(dims);
  const SignSection read = SignSection::read(section, section, grid);
  std::vector<std::uint64_t> signs(ceil_div(grid.points(), 64));
  if (read.head.is_raw) {
    std::memcpy(signs.data(), read.bits.data(), read.bits.size());
    return signs;
  }
  const std::uint64_t count = segments_of_signs(grid.tiles());
  const std::vector<Bytes> segments = cut_segments(read.sizes, 0, count, read.segments);
  const auto tables = all_tables(read.head.tables.of, decoder_table);
  std::vector<std::uint64_t> tiles(grid.tiles());
  for_each(count, [&](std::size_t i) {
    decode_segment(grid, i, read.head.first_sign, tables, segments[i], tiles.data());
  });
  in_parts(signs.size(), for_each, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) signs[i] = signs_of_tiles(grid, tiles.data(), i);
  });
  return signs;
}

}  // namespace cuszi
