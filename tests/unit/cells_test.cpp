#include "cpu_ref/cells/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "core/cells/anchors.hpp"
#include "core/cells/head.hpp"
#include "core/cells/params.hpp"
#include "core/cells/prediction.hpp"
#include "core/cells/slices.hpp"
#include "core/cells/sparse_block.hpp"
#include "cpu_ref/cells/chains.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi {

namespace {

/// The codes of all points of a tile stand at places of their own, each pass's in its blocks.
template <class Shape>
void check_positions() {
  std::set<int> seen{0};
  for (int spacing = Shape::half; spacing > 0; spacing /= 2) {
    const int n = Shape::half / spacing;
    const auto cells = [&](int axis) { return Shape::has(axis) ? n : 1; };
    for (int number = 0; number < Shape::classes; ++number) {
      const int odd = Shape::odd_of(number);
      CHECK(Shape::number_of(odd) == number);
      for (int z = 0; z < cells(0); ++z)
        for (int y = 0; y < cells(1); ++y)
          for (int x = 0; x < cells(2); ++x) {
            const int position = Shape::position(n, odd, z, y, x);
            REQUIRE(seen.insert(position).second);
            const auto along = [&](int axis, int cell) {
              return spacing * (2 * cell + (odd >> axis & 1));
            };
            REQUIRE(Shape::position_of_point(along(0, z), along(1, y), along(2, x)) == position);
            const auto block = static_cast<std::uint32_t>(position / cell_block_codes);
            const int pass = pass_of_spacing<Shape>(spacing);
            REQUIRE(block >= first_block_of_pass(Shape::rank, pass));
            REQUIRE(block <
                    first_block_of_pass(Shape::rank, pass) + blocks_of_pass(Shape::rank, pass));
          }
    }
  }
  CHECK(seen.size() == cell_codes);
  CHECK(*seen.rbegin() == cell_codes - 1);
  CHECK(cell_passes(Shape::rank) == Shape::passes);
}

template <class T>
std::vector<T> waves(const Extents3& extents) {
  std::vector<T> values(count_of(extents));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = coordinates_of(i, extents);
    values[i] = static_cast<T>(std::sin(static_cast<double>(at[2]) * 0.1) +
                               std::cos(static_cast<double>(at[1]) * 0.13) *
                                   std::sin(static_cast<double>(at[0]) * 0.2));
  }
  return values;
}

/// What a frame is coded to, as a decoder gets it.
struct Coded {
  std::vector<cpu::OwnCoded> passes;
  std::vector<Sections> sections;

  explicit Coded(std::vector<cpu::OwnCoded> coded) : passes(std::move(coded)) {
    for (const cpu::OwnCoded& pass : passes) {
      Sections& all = sections.emplace_back();
      for (const cpu::OwnedSection& section : pass.sections)
        if (!section.bytes.empty()) all.add(section.id, section.bytes);
    }
  }
  ByteCount size() const {
    ByteCount bytes = 0;
    for (const Sections& pass : sections) bytes += pass.size();
    return bytes;
  }
};

/// Codes a frame and checks it at all strides. Returns the bytes.
template <class T>
ByteCount check_round_trip(const Extents3& extents, const std::vector<T>& values, double bound,
                           double background = 0, int rank = 0) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Mask none;
  const Dims dims{values.size()};
  CellsParams params = CellsParams::draft({}, extents);
  FieldScan scan;
  scan.min = *low;
  scan.max = *high;
  params.choose({}, scan, bound, dtype_of<T>);
  REQUIRE(params.is_usable(dtype_of<T>));
  params.background = background;
  if (rank != 0) params.rank = rank;
  const Coded coded(cpu::encode_values(
      params, bound, cpu::FrameInput<T>{extents, values, none, *low, *high, dims}));
  for (std::uint64_t stride = 1; stride <= static_cast<std::uint64_t>(params.tile()); stride *= 2) {
    Extents3 restored_extents{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      restored_extents.at(axis) = extents.at(axis) == 1 ? 1 : ceil_div(extents.at(axis), stride);
    std::vector<T> restored(count_of(restored_extents));
    cpu::FrameOutput<T> out{restored_extents, restored, none, *low, *high, dims};
    out.whole = extents;
    out.stride = stride;
    cpu::decode_values(params, std::span(coded.sections).first(params.passes_of_stride(stride)),
                       out);
    std::size_t beyond = 0;
    for (std::size_t i = 0; i < restored.size(); ++i) {
      Extents3 at = coordinates_of(i, restored_extents);
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (extents.at(axis) != 1) at.at(axis) *= stride;
      beyond += within_bound(values[point_at(at, extents)], restored[i], bound) ? 0U : 1U;
    }
    REQUIRE(beyond == 0);
  }
  return coded.size();
}

}  // namespace

TEST_CASE("every code of a tile of cells has its position") {
  check_positions<CellShape<1>>();
  check_positions<CellShape<2>>();
  check_positions<CellShape<3>>();
}

TEST_CASE("classes of blocks grow with the sums of their codes") {
  CHECK(class_of_sum(0) == 0);
  CHECK(class_of_sum(5) == 4);
  CHECK(class_of_sum(511) == 17);
  CHECK(class_of_sum(512) == 18);
  CHECK(class_of_sum(64 * most_cell_code) == class_count - 1);
  for (std::uint32_t sum = 1; sum < 40000; ++sum)
    REQUIRE(class_of_sum(sum) - class_of_sum(sum - 1) <= 1);
}

TEST_CASE("the class of a block is that of its codes in a whole block") {
  CHECK(class_of_block(0, 0) == 0);
  CHECK(class_of_block(100, cell_block_codes) == class_of_sum(100));
  CHECK(class_of_block(25, 16) == class_of_sum(100));
  CHECK(class_of_block(1, 1) == class_of_sum(64));
}

TEST_CASE("codes of cells are those of the points of a field but its anchors") {
  for (const Extents3& extents : {Extents3{1, 1, 5000}, Extents3{1, 66, 64}, Extents3{1, 60, 130},
                                  Extents3{16, 17, 40}, Extents3{3, 2, 33}, Extents3{20, 32, 50}}) {
    for (const int rank : {rank_of(extents), std::min(rank_of(extents), 2)}) {
      with_cell_rank(rank, [&]<class Shape>(Shape) {
        const auto grid = CellGrid::of<Shape>(extents);
        const auto coded = cpu::coded_points<Shape>(grid);
        std::uint64_t codes = 0;
        for (std::uint64_t tile = 0; tile < grid.count(); ++tile)
          for (const std::uint64_t bits : coded->of[grid.cut_of_tile(tile)])
            codes += static_cast<unsigned>(std::popcount(bits));
        CHECK(codes == count_of(extents) - grid.count());
      });
    }
  }
}

TEST_CASE("blocks have their class after those that their context follows from") {
  for (const int rank : {1, 2, 3}) {
    for (std::uint32_t block = 1; block < tile_blocks; ++block) {
      const BlockParents parents = parents_of_block(rank, block);
      REQUIRE(parents.before < block);
      REQUIRE(parents.parent < block);
    }
  }
  CHECK(parents_of_block(3, 1).parent == 0);
  CHECK(parents_of_block(3, 8 + 7 * 7 + 3).parent == 1 + 3);  // the last octant, its fourth class
  CHECK(parents_of_block(2, 4 + 3 * 3 + 1).before == 4 + 3 * 3);
}

TEST_CASE("tokens tell all codes of cells") {
  for (int code = -most_cell_code; code <= most_cell_code; ++code) {
    const CellToken token = token_of_code(code);
    REQUIRE(token.token < cell_tokens);
    if (token.token < small_tokens) {
      REQUIRE(token.raw_bits == 0);
      REQUIRE(code_of_small_token(token.token) == code);
    } else {
      REQUIRE(raw_bits_of_code_token(token.token) == token.raw_bits);
      REQUIRE(code_of_token(token.token, token.raw) == code);
    }
  }
}

TEST_CASE("lists tell all sparse blocks", "[unsanitized]") {
  constexpr int signed_positions = 2 * cell_block_codes;
  for (std::uint32_t kind = 1; kind <= most_sparse_sum; ++kind) {
    std::set<std::uint32_t> seen;
    // Units from the largest to the smallest: every sum of so many.
    int units[most_sparse_sum] = {};
    const auto check_block = [&] {
      std::array<int, cell_block_codes> codes{};
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < kind; ++i)
        codes.at(static_cast<std::size_t>(units[i] / 2)) += units[i] % 2 == 0 ? 1 : -1;
      UnitLister lister;
      for (std::uint32_t i = 0; i < cell_block_codes; ++i) {
        sum += static_cast<std::uint32_t>(std::abs(codes.at(i)));
        if (codes.at(i) != 0) lister.add(i, codes.at(i));
      }
      if (sum != kind) return;  // two units cancel
      REQUIRE(lister.list() >> list_bits(kind) == 0);
      REQUIRE(seen.insert(lister.list()).second);
      std::array<std::int16_t, cell_block_codes> restored{};
      add_units(lister.list(), kind, restored.data());
      REQUIRE(std::ranges::equal(restored, codes));
    };
    for (units[0] = 0; units[0] < signed_positions; ++units[0])
      for (units[1] = 0; units[1] <= (kind > 1 ? units[0] : 0); ++units[1])
        for (units[2] = 0; units[2] <= (kind > 2 ? units[1] : 0); ++units[2]) check_block();
    if (kind == 1) CHECK(seen.size() == 1U << 7);
    if (kind == 2) CHECK(seen.size() == 1U << 13);
    if (kind == 3) CHECK(seen.size() == 349568);
  }
}

TEST_CASE("blocks are sparse if their class tells the sum of all their codes") {
  CHECK_FALSE(is_sparse_block(0, ~std::uint64_t{0}));
  for (std::uint32_t kind = 1; kind < class_count; ++kind) {
    CHECK(is_sparse_block(kind, ~std::uint64_t{0}) == (kind <= most_sparse_sum));
    CHECK_FALSE(is_sparse_block(kind, ~std::uint64_t{1}));
  }
}

TEST_CASE("tables of cells are written and read") {
  test::Random random(5);
  CellsHead head{};
  head.tables = default_tables();
  head.blocks_of_lane = most_blocks_of_lane;
  for (int i = 1; i < class_count; ++i) {
    std::uint64_t counts[token_places] = {};
    for (std::uint32_t token = 0; token < cell_tokens; ++token)
      if (random.one_in(2) && token_of_code(0).token <= token)
        counts[token] = random.below(1 + (std::uint64_t{1} << random.below(30)));
    for (std::uint32_t token = 0; token < token_places; ++token)
      if (default_tables().codes[i].frequencies[token] == 0) counts[token] = 0;
    choose_table(counts, default_tables().codes[i].frequencies, true, head.tables.codes[i]);
    std::uint32_t sum = 0;
    for (std::uint32_t token = 0; token < token_places; ++token) {
      sum += head.tables.codes[i].frequencies[token];
      if (counts[token] != 0) REQUIRE(head.tables.codes[i].frequencies[token] != 0);
    }
    REQUIRE(sum == table_probability_one);
  }
  for (const int rank : {1, 2, 3}) {
    for (auto& level : head.weights.of)
      for (CoarseWeights& weights : level)
        weights = {static_cast<std::int16_t>(random.below(3000)),
                   static_cast<std::int16_t>(-static_cast<int>(random.below(1000)))};
    const std::vector<std::byte> bytes = head.write(rank);
    const CellsHead read = CellsHead::read(bytes, rank);
    CHECK(read.blocks_of_lane == head.blocks_of_lane);
    for (int i = 0; i < class_count; ++i) {
      CHECK(std::ranges::equal(read.tables.codes[i].frequencies, head.tables.codes[i].frequencies));
      CHECK(std::ranges::equal(read.tables.classes[i].frequencies,
                               head.tables.classes[i].frequencies));
    }
    CHECK_THROWS_AS(CellsHead::read(Bytes(bytes).first(bytes.size() / 2), rank), ArchiveError);
  }
}

TEST_CASE("symbols are put without a division as with one") {
  test::Random random(11);
  for (std::uint32_t frequency = 1; frequency <= table_probability_one; ++frequency) {
    const std::uint32_t first = table_probability_one - frequency;
    const std::uint32_t half = frequency / 2;
    const auto packed = PackedSymbolShare::of({frequency, first});
    const auto pair = PackedSymbolShare::of({half, first}).of_pair();
    // States of the largest quotient, of small ones, and of some between.
    const auto check_quotient = [&](std::uint64_t quotient) {
      for (int add = -1; add <= 1; ++add) {
        const std::uint64_t state = quotient * frequency + static_cast<std::uint64_t>(add);
        if (state > 0xFFFFFFFFU) continue;
        const SymbolShare share{frequency, first};
        const auto low = static_cast<std::uint32_t>(state);
        REQUIRE(packed.spills(low) == share.spills(low));
        if (share.spills(low)) continue;
        REQUIRE(packed.put(low) == share.put(low));
        if (frequency % 2 == 0) REQUIRE(pair.put(low) == share.put(low));
      }
    };
    for (std::uint64_t k = 0; k < 50; ++k) {
      check_quotient(k);
      check_quotient((std::uint64_t{1} << 22) - k);
      check_quotient(static_cast<std::uint64_t>(random.uniform() * (1 << 22)));
    }
  }
  CHECK(PackedSymbolShare{}.put(0xFFFFFFFFU) == 0xFFFFFFFFU);
  CHECK_FALSE(PackedSymbolShare{}.spills(0xFFFFFFFFU));
}

TEST_CASE("tables do not tell the signs of small codes apart") {
  test::Random random(6);
  for (int round = 0; round < 100; ++round) {
    std::uint64_t both[token_places] = {};
    std::uint64_t one[token_places] = {};
    for (std::uint32_t token = 0; token < cell_tokens; ++token) {
      both[token] = random.below(1 + (std::uint64_t{1} << random.below(20)));
      one[token < small_tokens && token > 0 && token % 2 == 0 ? token - 1 : token] += both[token];
    }
    const SymbolTable& usual = default_tables().codes[class_count - 1];
    SymbolTable of_both{};
    SymbolTable of_one{};
    REQUIRE(choose_table(both, usual.frequencies, true, of_both) ==
            choose_table(one, usual.frequencies, true, of_one));
    REQUIRE(std::ranges::equal(of_both.frequencies, of_one.frequencies));
  }
}

TEST_CASE("lanes of coarse passes are shorter in large frames") {
  CHECK(blocks_of_lane_in(3, 0, many_tiles - 1, 64) == 64);
  CHECK(blocks_of_lane_in(3, 0, many_tiles, 16) == 4);
  CHECK(blocks_of_lane_in(3, 1, many_tiles, 16) == 8);
  CHECK(blocks_of_lane_in(3, 2, many_tiles, 16) == 16);
  CHECK(blocks_of_lane_in(1, 3, many_tiles, 32) == 8);
}

TEST_CASE("lanes are longer where blocks are cheap or many, and carry signs of a quarter of them") {
  constexpr std::uint64_t blocks = 1000;
  constexpr std::uint64_t codes = blocks * cell_block_codes;
  CHECK(choose_blocks_of_lane(codes, 48 * blocks) == 8);
  CHECK(choose_blocks_of_lane(codes, 47 * blocks) == 16);
  CHECK(choose_blocks_of_lane(codes, 24 * blocks) == 16);
  CHECK(choose_blocks_of_lane(codes, 23 * blocks) == 32);
  CHECK(choose_blocks_of_lane(codes, blocks) == 32);
  constexpr std::uint64_t many = enough_segments * most_lanes;  // lanes
  const auto lane_among = [](std::uint64_t live) {
    return choose_blocks_of_lane(live * cell_block_codes, 100 * live);
  };
  CHECK(lane_among(15 * many) == 8);
  CHECK(lane_among(16 * many) == 16);
  CHECK(lane_among(32 * many) == 32);
  CHECK(carrying_blocks(32) == 8);
  CHECK(carrying_blocks(8) == 2);
  CHECK(carrying_blocks(2) == 1);
}

TEST_CASE("anchors of cells are written and read") {
  test::Random random(7);
  for (const Extents3& extents :
       {Extents3{1, 1, 300000}, Extents3{1, 700, 129}, Extents3{40, 33, 99}}) {
    with_cell_rank(rank_of(extents), [&]<class Shape>(Shape) {
      const CellGrid grid = CellGrid::of<Shape>(extents);
      std::vector<std::int32_t> anchors(grid.count());
      for (std::int32_t& anchor : anchors)
        anchor = static_cast<std::int32_t>(random.below(1U << 31)) - (1 << 30);
      CHECK(decode_anchors(grid, encode_anchors(grid, anchors)) == anchors);
      std::fill(anchors.begin(), anchors.end(), 12345);
      const auto bytes = encode_anchors(grid, anchors);
      CHECK(decode_anchors(grid, bytes) == anchors);
      CHECK_THROWS_AS(decode_anchors(grid, Bytes(bytes).first(bytes.size() - 1)), ArchiveError);
    });
  }
}

TEST_CASE("points without a neighbour above take the splines that have one") {
  const ClassWeights<float> fitted{{0.75F, 0.5F, -0.25F}};
  const auto both = effective_weights(fitted, true, true);
  CHECK(both.of[2] == -0.25F);
  const auto one = effective_weights(fitted, true, false);
  CHECK((one.of[0] == 1 && one.of[1] == 0 && one.of[2] == 0));
  const auto none = effective_weights(fitted, false, false);
  CHECK(none.of[0] == 0.75F / 1.25F);
  const auto two = effective_weights(fitted, false, true, true);
  CHECK((two.of[0] == 0 && two.of[2] == 0.0625F / 0.5625F));
}

TEST_CASE("weights of cells are those that a field was made with") {
  // Values of one class are a fixed mixture of its parts.
  std::vector<CellObservation> seen(2048);
  test::Random random(3);
  for (CellObservation& point : seen) {
    point.second = random.uniform() - 0.5;
    point.third = random.uniform() - 0.5;
    point.target = 0.25 * point.second + 0.5 * point.third;
    point.is_used = true;
  }
  CHECK(fit_weights(seen, 1e-3, 3) == CoarseWeights{256, 512});
  for (CellObservation& point : seen) point = {};
  CHECK(fit_weights(seen, 1e-3, 7) == equal_weights(7));
}

TEMPLATE_TEST_CASE("frames of cells come back within the bound at every stride", "[unsanitized]",
                   float, double) {
  for (const Extents3& extents :
       {Extents3{17, 17, 17}, Extents3{33, 34, 35}, Extents3{5, 70, 40}, Extents3{2, 2, 2},
        Extents3{18, 16, 1100}, Extents3{1, 64, 65}, Extents3{1, 130, 100}, Extents3{1, 3, 500},
        Extents3{1, 1, 1}, Extents3{1, 1, 4097}, Extents3{1, 1, 20000}}) {
    const bool is_large = extents[0] * extents[1] * extents[2] > 12'000;
    for (const double bound : {1e-1, 1e-3, 1e-6}) {
      if (test::sanitized && is_large && bound != 1e-3) continue;
      const auto values = waves<TestType>(extents);
      check_round_trip(extents, values, bound);
      check_round_trip(extents, values, bound, 0.5);
    }
  }
}

TEST_CASE("slices of cells come back within the bound at every stride") {
  for (const Extents3& extents : {Extents3{5, 70, 40}, Extents3{33, 64, 130}, Extents3{2, 2, 2}})
    check_round_trip(extents, waves<float>(extents), 1e-3, 0, 2);
}

TEST_CASE("tiles are slices where these take fewer bytes") {
  const auto rank_for = [](const Extents3& extents, const std::vector<float>& values) {
    std::vector<double> picked;
    for (const std::uint64_t point : points_for_tile_rank(extents))
      picked.push_back(static_cast<double>(values.at(point)));
    return choose_tile_rank({extents, 1e-3, -10, 10}, picked);
  };
  const Extents3 extents{20, 64, 70};
  std::vector<float> values = waves<float>(extents);
  CHECK(rank_for(extents, values) == 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += coordinates_of(i, extents)[0] % 2 == 0 ? 1.0F : 0.0F;
  CHECK(rank_for(extents, values) == 2);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 1e20F;  // missing
  CHECK(rank_for(extents, values) == 2);
  std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
  CHECK(rank_for(extents, values) == 3);
  for (const Extents3& one_way :
       {Extents3{1, 64, 70}, Extents3{1, 1, 70}, Extents3{40, 40, 40}, Extents3{200, 200, 210}})
    CHECK(points_for_tile_rank(one_way).empty());
}

TEST_CASE("the background is a value that a sixteenth of a sample has") {
  const auto background_of = [](const std::vector<double>& sorted) {
    return cells_sample(sorted).background;
  };
  std::vector<double> sorted(160);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<double>(i);
  CHECK(background_of(sorted) == 0);
  std::fill_n(sorted.begin() + 50, 10, 50);
  CHECK(background_of(sorted) == 50);
  sorted[59] = 59;
  CHECK(background_of(sorted) == 0);
  CHECK(background_of({}) == 0);
  CHECK(cells_sample(sorted).count() == sorted.size());
}

TEST_CASE("half steps of cells leave the rounding of sampled values to the bound") {
  const double bound = 1e-3;
  CellsParams params;
  params.learn(cells_sample({-30, 1, 20}), bound, DType::f32);
  CHECK(params.half_step == bound - 30 * 0x1p-22);
  params.learn(cells_sample({1, 2000}), bound, DType::f32);
  CHECK(params.half_step == bound - bound / 16);
  params.learn(cells_sample({}), bound, DType::f32);
  CHECK(params.half_step == bound);
}

TEST_CASE("cells have a floor where many sampled values are near the least, and others are not") {
  const auto limits_of = [](double low, double high, std::size_t near, std::size_t others) {
    std::vector<double> sorted(near, low);
    for (std::size_t i = 0; i < others; ++i)
      sorted.push_back(low +
                       (high - low) * static_cast<double>(i + 1) / static_cast<double>(others));
    CellsParams params;
    params.learn(cells_sample(sorted), 1e-3, DType::f32);
    return std::pair(params.floor, params.ceiling);
  };
  CHECK(limits_of(5, 6, 400, 4000) == std::pair(std::optional(5.0), std::optional<double>()));
  CHECK(limits_of(5, 6, 200, 4000).first == std::nullopt);  // the values may go on below
  CHECK(limits_of(5, 6, 8000, 255).first == std::nullopt);  // others may be rare, on both sides
  CHECK(limits_of(5, 5 + 1e-4, 400, 4000).first == std::nullopt);  // all are
}

TEST_CASE("a smooth field of cells takes few bytes") {
  const Extents3 extents{49, 50, 65};
  CHECK(check_round_trip(extents, waves<float>(extents), 1e-3) < count_of(extents) * 4 / 30);
}

TEST_CASE("an axis that a stride leaves one point of stays where it is") {
  CHECK(extents_at_stride({32, 5, 32}, 8) == Extents3{4, 1, 4});
  CHECK(extents_at_stride({1, 17, 16}, 16) == Extents3{1, 2, 1});
}

}  // namespace cuszi
