#include "core/field/point_bits.hpp"

#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

using Words = std::vector<std::uint64_t>;

template <class IsSet>
Words words_of(const Dims& dims, const IsSet& is_set) {
  Words words(ceil_div(dims.count(), 64));
  for (std::uint64_t i = 0; i < dims.count(); ++i) {
    if (is_set(i)) words[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return words;
}

bool is_set(const Words& words, std::uint64_t point) {
  return (words[point / 64] >> (point % 64) & 1) != 0;
}

/// What a reference means, bit by bit.
bool differs(const Words& words, const Dims& dims, std::uint64_t point, unsigned reference) {
  const Extents3 e = dims.as_3d();
  const std::uint64_t slice = e[1] * e[2];
  const auto row_change = [&](std::uint64_t at) {
    const bool has_row = (reference & 1U) != 0 && at % slice >= e[2];
    return is_set(words, at) != (has_row && is_set(words, at - e[2]));
  };
  const bool has_slice = (reference & 2U) != 0 && point >= slice;
  return row_change(point) != (has_slice && row_change(point - slice));
}

Words through_archive(const Words& words, const Dims& dims) {
  const PointBits form = coded_form(words, dims);
  const PointBits decoded = decode_bits(encode_bits(form, one_by_one), dims.count(), one_by_one);
  CHECK((decoded == form));
  return all_words(decoded, dims);
}

const Dims shapes[] = {{1},          {31},         {32},      {33},        {64},
                       {1000},       {7, 9},       {40, 31},  {5, 32},     {9, 65},
                       {5, 200},     {4, 3, 2},    {6, 5, 7}, {5, 8, 8},   {3, 64, 64},
                       {4, 11, 100}, {3, 5, 7, 9}, {20, 1},   {200, 3, 1}, {1, 1, 1, 1}};

}  // namespace

TEST_CASE("bits differ from the row and the slice before as they should") {
  Random random(1);
  for (const Dims& dims : shapes) {
    INFO(dims.to_string());
    const Words words = words_of(dims, [&](std::uint64_t) { return random.one_in(3); });
    const BitRuns runs = BitRuns::of(dims);
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < runs.count(); ++i) {
      const BitRun run = runs[i];
      REQUIRE(run.first == next);
      next += run.count;
      for (unsigned reference = 0; reference < bit_references; ++reference) {
        const std::uint32_t bits =
            differing_bits(words.data(), runs, run, static_cast<BitReference>(reference));
        for (unsigned bit = 0; bit < run.count; ++bit) {
          REQUIRE(((bits >> bit & 1) != 0) == differs(words, dims, run.first + bit, reference));
        }
      }
    }
    REQUIRE(next == dims.count());
  }
}

TEST_CASE("bits come back in every form") {
  Random random(2);
  for (const Dims& dims : shapes) {
    for (const std::uint64_t one_in : {1U, 2U, 50U, 1000U}) {
      INFO(dims.to_string() << ", one in " << one_in);
      const Words words = words_of(dims, [&](std::uint64_t) { return random.one_in(one_in); });
      CHECK(through_archive(words, dims) == words);
    }
  }
}

TEST_CASE("each reference is chosen where it leaves fewest bits") {
  const Dims dims{20, 30, 100};
  const auto form_of = [&](const auto& is_set) {
    const Words words = words_of(dims, is_set);
    CHECK(through_archive(words, dims) == words);
    return coded_form(words, dims);
  };
  Random random(3);
  Words noise;
  for (int i = 0; i < 3000; ++i) noise.push_back(random.one_in(2));

  const PointBits rare = form_of([](std::uint64_t i) { return i % 1009 == 7; });
  CHECK(rare.reference == BitReference::none);
  CHECK(rare.gaps.size() == 2 * 60 - 1);  // 7, then more than 127
  const PointBits columns =
      form_of([&](std::uint64_t i) { return noise[i % 100 + i / 3000 * 100] != 0; });
  CHECK(columns.reference == BitReference::row);
  const PointBits slices = form_of([&](std::uint64_t i) { return noise[i % 3000] != 0; });
  CHECK(slices.reference == BitReference::slice);
  const PointBits both = form_of([&](std::uint64_t i) { return noise[i % 100] != 0; });
  CHECK(both.reference == BitReference::row_and_slice);
  CHECK(both.gaps.size() < 100);
  const PointBits dense = form_of([&](std::uint64_t) { return random.one_in(2); });
  CHECK(dense.gaps.empty());
  CHECK(dense.words.size() == ceil_div(dims.count(), 64));
}

TEST_CASE("one bit of many costs a few bytes") {
  const Dims dims{100, 100, 100};
  const Words words = words_of(dims, [](std::uint64_t i) { return i == 543'210; });
  CHECK(encode_bits(coded_form(words, dims), one_by_one).size() < 20);
}

TEST_CASE("damaged bits are refused or stay within the frame") {
  const Dims dims{8, 9, 10};
  Random random(4);
  for (const std::uint64_t one_in : {3U, 40U}) {
    const Words words = words_of(dims, [&](std::uint64_t) { return random.one_in(one_in); });
    const std::vector<std::byte> good = encode_bits(coded_form(words, dims), one_by_one);
    for (std::size_t i = 0; i < 4 * good.size(); ++i) {
      std::vector<std::byte> damaged = good;
      damaged[i % good.size()] ^= static_cast<std::byte>(1 + random.below(255));
      try {
        const PointBits bits = decode_bits(damaged, dims.count(), one_by_one);
        const Words all = all_words(bits, dims);
        CHECK(all.size() == words.size());
      } catch (const ArchiveError&) {
        SUCCEED("refused");
      }
    }
  }
  CHECK_THROWS_AS(decode_bits({}, 100, one_by_one), ArchiveError);
  CHECK_THROWS_AS(decode_bits(to_bytes({5, 0}), 100, one_by_one), ArchiveError);
  const auto gaps = [](const std::vector<std::uint8_t>& bytes) {
    return PointBits{BitReference::none, to_vector(std::as_bytes(std::span(bytes))), {}};
  };
  CHECK(all_words(gaps({99}), {100}) == Words{0, std::uint64_t{1} << 35});
  CHECK_THROWS_AS(all_words(gaps({99}), {99}), ArchiveError);
  CHECK_THROWS_AS(all_words(gaps({50, 49}), {100}), ArchiveError);
  CHECK_THROWS_AS(decode_bits(encode_bits(gaps({0x80}), one_by_one), 100, one_by_one),
                  ArchiveError);
}

}  // namespace cuszi::test
