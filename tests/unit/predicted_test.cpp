#include "core/lossless/predicted.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/lossless/choice.hpp"
#include "core/lossless/raw_bits.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class Word>
std::vector<Word> special_words() {
  std::vector<Word> words{0, 1, 2, 3, ~Word{0}, WordMap<Word>::top, WordMap<Word>::top - 1};
  Random random(1);
  for (int i = 0; i < 1000; ++i) words.push_back(static_cast<Word>(random.next() >> (i % 60)));
  return words;
}

WordChoice<std::uint32_t> choice_of(const std::vector<float>& values, const Extents3& extents) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return choose_words<std::uint32_t>(bits.data(), extents, {}, one_by_one);
}

}  // namespace

TEMPLATE_TEST_CASE("words and bits are each other's inverses", "", std::uint32_t, std::uint64_t) {
  for (const WordOrder order : {WordOrder::by_value, WordOrder::sign_last}) {
    for (const int shift : {0, 1, 13, WordMap<TestType>::digits - 1}) {
      WordMap<TestType> map{order, shift, 0};
      map.base = TestType{77} << shift;
      for (const TestType word : special_words<TestType>()) {
        const TestType bits = word & ~map.low_bits();
        REQUIRE(map.bits_of(map.word_of(bits)) == bits);
        REQUIRE((map.word_of(bits) & map.low_bits()) == 0);
        REQUIRE(map.word_of(map.bits_of(bits)) == bits);
      }
    }
  }
}

TEST_CASE("words by value ascend with values") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-inf, -3e38F, -2, -1, -1e-40F, -0.0F,
                                  0,    1e-40F, 1,  2,  3e38F,   inf};
  const WordMap<std::uint32_t> map{WordOrder::by_value, 0, 0};
  const auto word = [&](float value) { return map.word_of(std::bit_cast<std::uint32_t>(value)); };
  for (std::size_t i = 1; i < values.size(); ++i) CHECK(word(values[i - 1]) < word(values[i]));
}

TEMPLATE_TEST_CASE("multiples of a power of two and their integers are each other's inverses", "",
                   float, double) {
  using Word = BitsOf<TestType>;
  Random random(6);
  constexpr int digits = WordMap<Word>::digits;
  constexpr int most = std::numeric_limits<TestType>::digits;
  for (const int exponent : {-1074, -149, -148, -20, 0, 3, 60}) {
    std::vector<Word> bits;
    for (int i = 0; i < 500; ++i) {
      const int width = 1 + static_cast<int>(random.below(most));
      const auto whole = static_cast<TestType>(random.next() >> (64 - width));
      const auto value =
          std::ldexp(whole, exponent + static_cast<int>(random.below(digits - most)));
      bits.push_back(std::bit_cast<Word>(random.one_in(2) && value != 0 ? -value : value));
    }
    bits.push_back(0);
    const WordScales scales = scales_of<Word>(bits, one_by_one);
    if (exponent < std::numeric_limits<TestType>::min_exponent - most) continue;
    REQUIRE(scales.multiples);
    WordMap<Word> map{WordOrder::multiples, *scales.multiples, 0};
    map.base = map.word_of(bits[0]);
    CHECK(map.word_of(bits[0]) == 0);
    for (const Word each : bits) REQUIRE(map.bits_of(map.word_of(each)) == each);
    for (const TestType odd :
         {TestType{-0.0}, std::numeric_limits<TestType>::quiet_NaN(),
          std::numeric_limits<TestType>::infinity(), std::ldexp(TestType{1}, exponent + digits)}) {
      std::vector<Word> more = bits;
      more.push_back(std::bit_cast<Word>(odd));
      more.push_back(std::bit_cast<Word>(std::ldexp(TestType{1}, exponent)));
      CHECK(!scales_of<Word>(more, one_by_one).multiples);
    }
  }
}

TEMPLATE_TEST_CASE("words of multiples of an odd number are the quotients", "", std::uint32_t,
                   std::uint64_t) {
  for (const std::uint64_t factor : {1U, 3U, 19U, 2'001U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    WordMap<TestType> map{WordOrder::integers, 0, 0, static_cast<TestType>(factor)};
    REQUIRE(map.is_possible());
    for (const TestType quotient : {0U, 1U, 2U, 1000U})
      CHECK(map.word_of(static_cast<TestType>(quotient * factor)) == quotient);
    map.base = 77;
    for (const TestType bits : special_words<TestType>())
      REQUIRE(map.bits_of(map.word_of(bits)) == bits);
  }
  CHECK_FALSE(WordMap<TestType>{WordOrder::integers, 0, 0, 2}.is_possible());
  CHECK_FALSE(WordMap<TestType>{WordOrder::integers, 1, 0, 1}.is_possible());
}

TEST_CASE("a token and its raw bits are a magnitude and a sign") {
  for (std::uint32_t number = 1; number < word_classes; ++number) {
    const unsigned octave = octave_of_class(number);
    for (unsigned width = 0; width <= std::min(octave, 64U); ++width) {
      const std::uint64_t first = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
      for (const std::uint64_t magnitude :
           {first, first + first / 2, first + first / 3, first == 0 ? 0 : first - 1 + first}) {
        for (const bool negative : {false, true}) {
          const WordToken token = token_of_word(magnitude, negative, octave);
          REQUIRE(token.token < token_places);
          const WordTokenForm form = form_of_token(token.token, octave);
          REQUIRE(form.exists);
          REQUIRE(form.raw_bits == token.raw_bits);
          REQUIRE((token.raw_bits == 64 || token.raw >> token.raw_bits == 0));
          const unsigned open = form.has_sign ? 0 : 1;
          REQUIRE(form.least + (token.raw >> open) == magnitude);
          const bool restored = form.is_negative || (open & token.raw) != 0;
          REQUIRE((restored == negative || magnitude == 0));
        }
      }
    }
    REQUIRE(default_word_tables().tokens[number].is_default);
  }
}

TEST_CASE("the class of a block is the octave of its sum, and sums of 64 words do not overflow") {
  const auto class_of = [](std::initializer_list<std::uint64_t> magnitudes) {
    ClassSum sum;
    for (const std::uint64_t magnitude : magnitudes) sum.add(magnitude);
    return sum.class_of_block();
  };
  CHECK(class_of({0, 0}) == 0);
  CHECK(class_of({1}) == 1);
  CHECK(class_of({1, 1}) == 2);
  CHECK(class_of({7, 8}) == 4);
  CHECK(class_of({(std::uint64_t{1} << 56) - 1, 1}) == 57);
  CHECK(class_of({std::uint64_t{1} << 60, std::uint64_t{1} << 60}) == 62);
  ClassSum all;
  for (std::uint32_t i = 0; i < word_block; ++i) all.add(std::uint64_t{1} << 63);
  CHECK(all.class_of_block() == word_classes - 1);
}

TEST_CASE("raw bits come back, and no more than there are") {
  Random random(2);
  std::vector<std::pair<std::uint64_t, unsigned>> numbers;
  RawBitsWriter out;
  for (int i = 0; i < 5000; ++i) {
    const auto bits = static_cast<unsigned>(random.below(65));
    const std::uint64_t value = bits == 0 ? 0 : random.next() >> (64 - bits);
    numbers.emplace_back(value, bits);
    out.put(value, bits);
  }
  std::vector<std::byte> bytes = out.take();
  CHECK(bytes.size() % 8 == 0);
  RawBitsReader in(bytes, 64);
  for (const auto& [value, bits] : numbers) REQUIRE(in.get(bits) == value);
  in.check();
  in.check_end();
  in.get(1);
  CHECK_THROWS_AS(in.check(), ArchiveError);
  bytes.resize(bytes.size() + 8);
  RawBitsReader longer(bytes, 64);
  for (const auto& [value, bits] : numbers) longer.get(bits);
  CHECK_THROWS_AS(longer.check_end(), ArchiveError);
}

TEST_CASE("chunks and blocks are numbered in their order") {
  for (const Extents3& extents : {Extents3{1, 1, 1}, Extents3{1, 1, 600'000}, Extents3{1, 1030, 9},
                                  Extents3{3, 2, 5}, Extents3{97, 5, 200}}) {
    const WordGrid grid = WordGrid::of(extents);
    std::uint64_t points = 0;
    std::uint64_t blocks = 0;
    for (std::uint64_t i = 0; i < grid.chunks(); ++i) {
      const WordBox chunk = grid.chunk_at(i);
      REQUIRE(grid.points_before(chunk) == points);
      REQUIRE(grid.blocks_before(chunk) == blocks);
      for_each_block(chunk.size, grid.block, [&](const Extents3&, const Extents3& size) {
        REQUIRE(count_of(size) <= word_block);
        points += count_of(size);
        ++blocks;
      });
    }
    CHECK(points == count_of(extents));
    CHECK(blocks == grid.blocks());
  }
}

TEST_CASE("sums undo differences of any orders") {
  Random random(3);
  for (const Extents3& size : {Extents3{1, 1, 50}, Extents3{1, 7, 9}, Extents3{4, 5, 6}}) {
    std::vector<std::uint32_t> words(count_of(size));
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.next());
    for (std::uint8_t z = 0; z <= most_order; ++z)
      for (std::uint8_t y = 0; y <= most_order; ++y)
        for (std::uint8_t x = 0; x <= most_order; ++x) {
          std::vector<std::uint32_t> work = words;
          take_differences(work.data(), size, {z, y, x});
          sum_differences(work.data(), size, {z, y, x});
          REQUIRE(work == words);
        }
  }
}

TEST_CASE("a plane leaves no differences but at its edges") {
  std::vector<std::uint32_t> words;
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t x = 0; x < 9; ++x) words.push_back(5 * y + 3 * x);
  take_differences(words.data(), {1, 8, 9}, {0, 1, 1});
  for (std::size_t i = 0; i < words.size(); ++i)
    if (i >= 9 && i % 9 != 0) CHECK(words[i] == 0);
}

TEST_CASE("orders follow how a frame varies") {
  Random random(4);
  std::vector<float> particles(10'000);
  for (float& value : particles) value = static_cast<float>(random.uniform() - 0.5);
  const auto of_particles = choice_of(particles, {1, 1, 10'000});
  CHECK(of_particles.map.order == WordOrder::sign_last);
  CHECK(of_particles.orders == Orders{0, 0, 0});
  std::vector<float> walk(10'000, 1000);  // along x alone
  for (std::size_t i = 1; i < walk.size(); ++i)
    walk[i] = i % 100 == 0 ? 1000 + 100 * static_cast<float>(random.uniform())
                           : walk[i - 1] + static_cast<float>(random.uniform() - 0.5) / 16;
  CHECK(choice_of(walk, {1, 100, 100}).orders == Orders{0, 0, 1});
}

TEST_CASE("low bits that no value has take no bytes") {
  std::vector<double> values(4096);
  Random random(5);
  for (double& value : values) value = static_cast<float>(random.uniform());
  const FrameShape shape{DType::f64, {4096}};
  const auto sections = encode_predicted(bytes_of(values), shape, one_by_one);
  CHECK(WordHead<std::uint64_t>::read(sections.head, shape.extents()).map.scale >= 29);
  CHECK(sections.size() < 4 * values.size());
}

TEMPLATE_TEST_CASE("multiples of powers of two come back", "[unsanitized]", float, double) {
  const FrameShape shape{std::is_same_v<TestType, float> ? DType::f32 : DType::f64, {66, 3}};
  constexpr int end = std::numeric_limits<TestType>::max_exponent;
  for (int exponent = std::numeric_limits<TestType>::min_exponent - 1; exponent < end;
       exponent += exponent < end - 64 ? 29 : 1)
    for (const bool varies : {false, true}) {
      INFO("2^" << exponent << ", varies: " << varies);
      std::vector<TestType> values(shape.points(), std::ldexp(TestType{1}, exponent));
      if (varies) values[5] = -values[5];
      const auto sections = encode_predicted(bytes_of(values), shape, one_by_one);
      std::vector<TestType> restored(values.size());
      decode_predicted(
          {sections.head, sections.index, sections.classes, sections.codes, sections.raw}, shape,
          std::as_writable_bytes(std::span(restored)), one_by_one);
      REQUIRE(restored == values);
    }
}

TEST_CASE("heads that no encoder writes are refused") {
  const Extents3 extents{1, 40, 50};
  const FrameShape shape{DType::f32, {40, 50}};
  const auto values = make_field(FieldKind::rough, shape.dims, DType::f32, 1);
  const auto head =
      WordHead<std::uint32_t>::read(encode_predicted(values, shape, one_by_one).head, extents);
  const auto refused = [&](const auto& change) {
    auto changed = head;
    change(changed);
    CHECK_THROWS_AS(WordHead<std::uint32_t>::read(changed.write(), extents), ArchiveError);
    CHECK_THROWS_AS(check_predicted_head(changed.write(), shape), ArchiveError);
  };
  refused([](auto& changed) { changed.orders[1] = most_order + 1; });
  refused([](auto& changed) { changed.chunk[1] = 0; });
  refused([](auto& changed) { changed.chunk[2] = 9; });
  refused([](auto& changed) { changed.chunk = {1, 2048, 2048}; });
  refused([](auto& changed) { changed.map.scale = 40; });
  refused([](auto& changed) { changed.map = {WordOrder::by_value, 3, 1}; });
  auto bytes = head.write();
  CHECK_THROWS_AS(WordHead<std::uint32_t>::read(Bytes(bytes).first(bytes.size() - 1), extents),
                  ArchiveError);
  bytes.push_back(std::byte{0});
  CHECK_THROWS_AS(WordHead<std::uint32_t>::read(bytes, extents), ArchiveError);
}

}  // namespace cuszi::test
