#include "core/signs/signs.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

using SignWords = std::vector<std::uint64_t>;

template <class IsNegative>
SignWords sign_words(const Dims& dims, const IsNegative& is_negative) {
  SignWords words(ceil_div(dims.count(), 64));
  for (std::uint64_t i = 0; i < dims.count(); ++i)
    if (is_negative(i)) words[i / 64] |= std::uint64_t{1} << (i % 64);
  return words;
}

/// Signs that rarely change along rows, more often from row to row.
SignWords clustered_signs(const Dims& dims, std::uint64_t seed) {
  Random random(seed);
  bool sign = false;
  return sign_words(dims, [&](std::uint64_t) { return sign ^= random.one_in(20); });
}

/// Whether points of a wave are negative.
SignWords wave_signs(const Dims& dims) {
  const Extents3 e = dims.as_3d();
  return sign_words(dims, [&](std::uint64_t i) {
    const auto z = static_cast<double>(i / e[2] / e[1]);
    const auto y = static_cast<double>(i / e[2] % e[1]);
    const auto x = static_cast<double>(i % e[2]);
    return std::sin(0.11 * x + 0.07 * y) * std::cos(0.05 * z + 0.03 * x) < 0.1;
  });
}

std::vector<std::byte> sign_section(const SignWords& words, const Dims& dims) {
  std::vector<std::byte> section = encode_signs(words, dims, one_by_one);
  CHECK(encode_signs(words, dims, cpu::in_threads) == section);
  CHECK(decode_signs(section, dims, one_by_one) == words);
  return section;
}

const Dims sign_shapes[] = {{1},          {63},       {64},           {65},         {100'000},
                            {7, 9},       {40, 31},   {5, 32},        {300, 65},    {1000, 3},
                            {2000, 8},    {4, 3, 2},  {6, 5, 7},      {5, 8, 8},    {3, 64, 64},
                            {4, 11, 100}, {70, 9, 1}, {300, 17, 18},  {20, 1},      {200, 3, 1},
                            {3, 5, 7, 9}, {1, 33, 1}, {64, 128, 128}, {66'000, 10}, {263'000, 9},
                            {1, 1, 1, 1}};

}  // namespace

TEST_CASE("signs come back") {
  Random random(1);
  for (const Dims& dims : sign_shapes) {
    if (sanitized && dims.count() > 500'000) continue;
    INFO(dims.to_string());
    for (const std::uint64_t one_in : {1U, 2U, 10U, 1000U})
      sign_section(sign_words(dims, [&](std::uint64_t) { return random.one_in(one_in); }), dims);
    sign_section(clustered_signs(dims, 2), dims);
    sign_section(wave_signs(dims), dims);
    sign_section(sign_words(dims, [](std::uint64_t) { return false; }), dims);
  }
}

TEST_CASE("tiles cover a frame, and beyond it repeat its nearest points", "[unsanitized]") {
  for (const Dims& dims : sign_shapes) {
    INFO(dims.to_string());
    const SignWords words = clustered_signs(dims, 3);
    const SignGrid grid = SignGrid::of(dims);
    SignWords tiles(grid.tiles());
    for (std::uint64_t place = 0; place < tiles.size(); ++place) {
      tiles[place] = gather_tile(grid, words.data(), place);
      const std::uint64_t column = place % grid.columns;
      for (std::uint64_t i = 0; i < tile_signs; ++i) {
        const std::uint64_t x = column % grid.across * grid.tile_width() + i % grid.tile_width();
        const std::uint64_t y = column / grid.across * grid.tile_height() + i / grid.tile_width();
        const std::uint64_t row = place / grid.columns * grid.height + std::min(y, grid.height - 1);
        const std::uint64_t point = row * grid.width + std::min(x, grid.width - 1);
        REQUIRE((tiles[place] >> i & 1) == (words[point / 64] >> (point % 64) & 1));
      }
    }
    SignWords back(words.size());
    for (std::uint64_t i = 0; i < back.size(); ++i) back[i] = signs_of_tiles(grid, tiles.data(), i);
    CHECK(back == words);
  }
}

TEST_CASE("signs of chance take a bit a point, rare ones next to nothing") {
  Random random(4);
  const Dims dims{64, 100, 100};
  const auto size_of = [&](const auto& is_negative) {
    return sign_section(sign_words(dims, is_negative), dims).size();
  };
  CHECK(size_of([&](std::uint64_t) { return random.one_in(2); }) == dims.count() / 8 + 4);
  CHECK(size_of([](std::uint64_t i) { return i == 123'456; }) <= 40);
  CHECK(size_of([](std::uint64_t i) { return i != 123'456; }) <= 40);
  CHECK(sign_section(wave_signs(dims), dims).size() < dims.count() / 160);
  CHECK(sign_section(sign_words({64}, [&](std::uint64_t) { return random.one_in(2); }), {64})
            .size() == 12);
}

TEST_CASE("damaged signs are refused or stay within the frame") {
  const Dims dims{40, 31, 45};
  Random random(5);
  for (const SignWords& words : {clustered_signs(dims, 6), wave_signs(dims)}) {
    const std::vector<std::byte> good = sign_section(words, dims);
    const auto check = [&](Bytes damaged) {
      try {
        const SignWords decoded = decode_signs(damaged, dims, one_by_one);
        CHECK(decoded.size() == words.size());
      } catch (const ArchiveError&) {
        SUCCEED("refused");
      }
    };
    for (std::size_t i = 0; i < (sanitized ? 300 : 3000); ++i) {
      std::vector<std::byte> damaged = good;
      damaged[i % good.size()] ^= static_cast<std::byte>(1 + random.below(255));
      check(damaged);
    }
    for (std::size_t size = 0; size < good.size(); size += 1 + size / 16)
      CHECK_THROWS_AS(decode_signs(Bytes(good).first(size), dims, one_by_one), ArchiveError);
    std::vector<std::byte> longer = good;
    longer.resize(good.size() + 4);
    CHECK_THROWS_AS(decode_signs(longer, dims, one_by_one), ArchiveError);
  }
}

TEST_CASE("raw signs have one size") {
  const Dims dims{100};
  std::vector<std::byte> section(4 + 16);
  section[0] = std::byte{0x80};
  CHECK(decode_signs(section, dims, one_by_one) == SignWords{0, 0});
  section.resize(4 + 12);
  CHECK_THROWS_AS(decode_signs(section, dims, one_by_one), ArchiveError);
  section.resize(4 + 20);
  CHECK_THROWS_AS(decode_signs(section, dims, one_by_one), ArchiveError);
}

TEST_CASE("a lane without tiles has no state") {
  const Dims dims{64};
  const std::vector<std::byte> good =
      sign_section(sign_words({6400}, [](std::uint64_t i) { return i % 100 > 60; }), {6400});
  const SignSection read = SignSection::read(good, good, SignGrid::of({6400}));
  REQUIRE(read.sizes.size() == 4);
  std::vector<std::byte> damaged = good;
  damaged[static_cast<std::size_t>(read.segments.data() - good.data())] = std::byte{2};
  CHECK_THROWS_AS(decode_signs(damaged, {6400}, one_by_one), ArchiveError);
  CHECK(decode_signs(sign_section(sign_words(dims, [](std::uint64_t) { return true; }), dims), dims,
                     one_by_one) == SignWords{~std::uint64_t{0}});
}

}  // namespace cuszi::test
