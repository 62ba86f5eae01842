#include "core/lossless/predicted.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

Dims random_dims(Random& random) {
  std::uint64_t extents[Dims::max_rank];
  const auto rank = 1 + random.below(Dims::max_rank);
  const std::uint64_t most[] = {20'000, 150, 28, 12};
  for (std::size_t axis = 0; axis < rank; ++axis)
    extents[axis] = 1 + random.below(random.one_in(3) ? 4 : most[rank - 1]);
  return *Dims::make(std::span(extents).first(rank));
}

/// Words of random size about a random walk: any bit pattern comes, in regions of any magnitude.
template <class Word>
void fill(std::span<Word> words, Random& random) {
  constexpr std::uint64_t digits = 8 * sizeof(Word);
  Word value = static_cast<Word>(random.next());
  std::uint64_t quiet = random.below(digits + 1);
  const Word mask = random.one_in(4) ? ~Word{0} << random.below(digits) : ~Word{0};
  const std::uint64_t region = 1 + random.below(500);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % region == 0) quiet = random.below(digits + 1);
    if (random.one_in(200)) value = static_cast<Word>(random.next());
    const Word noise =
        quiet == digits ? Word{0} : static_cast<Word>(static_cast<Word>(random.next()) >> quiet);
    value += random.one_in(2) ? noise : Word{0} - noise;
    words[i] = value & mask;
  }
}

/// Integers times a power of two about a random walk, some of them outside of what words hold.
template <class T>
void fill_multiples(std::span<T> values, Random& random) {
  const int exponent = static_cast<int>(random.below(200)) - 150;
  const auto width = 1 + random.below(40);
  double value = 0;
  for (T& each : values) {
    const auto noise = static_cast<double>(random.next() >> (64 - width));
    value = random.one_in(3) ? value : random.one_in(2) ? value + noise : noise - value;
    each = std::ldexp(static_cast<T>(value), exponent);
  }
}

std::vector<std::byte> random_values(const FrameShape& shape, Random& random) {
  std::vector<std::byte> values(shape.bytes());
  if (random.one_in(5)) {
    with_type_of(shape.dtype, [&]<class T>(T) {
      fill_multiples(std::span(reinterpret_cast<T*>(values.data()), shape.points()), random);
    });
    return values;
  }
  const auto fill_as = [&]<class Word>(Word) {
    fill(std::span(reinterpret_cast<Word*>(values.data()), shape.points()), random);
  };
  if (shape.dtype == DType::f32)
    fill_as(std::uint32_t{});
  else
    fill_as(std::uint64_t{});
  return values;
}

WordSections<Bytes> view_of(const OwnedWordSections& sections) {
  return {sections.head, sections.index, sections.classes, sections.codes};
}

}  // namespace

TEST_CASE("any bits come back from predicted frames, whatever the number of threads") {
  const auto backend = cpu::make_backend();
  Random random(1);
  int smaller = 0;
  for (int i = 0; i < 1500; ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    INFO("frame " << i << ": " << name_of(shape.dtype) << ' ' << shape.dims.to_string());
    const std::vector<std::byte> values = random_values(shape, random);
    const OwnedWordSections sections = encode_predicted(values, shape, one_by_one);
    const ThreadsScope scope(1 + i % 3);
    const OwnedWordSections parallel = encode_predicted(values, shape, host_work_of(*backend));
    REQUIRE(parallel.head == sections.head);
    REQUIRE(parallel.index == sections.index);
    REQUIRE(parallel.classes == sections.classes);
    REQUIRE(parallel.codes == sections.codes);
    std::vector<std::byte> restored(values.size());
    decode_predicted(view_of(sections), shape, restored, host_work_of(*backend));
    REQUIRE(restored == values);
    smaller += sections.size() < values.size() ? 1 : 0;
  }
  CHECK(smaller > 700);
}

TEST_CASE("damaged predicted frames are refused or restore something") {
  Random random(2);
  int refused = 0;
  constexpr int edits = 4000;
  for (int i = 0; i < 40; ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    const std::vector<std::byte> values = random_values(shape, random);
    const OwnedWordSections sections = encode_predicted(values, shape, one_by_one);
    std::vector<std::byte> restored(values.size());
    for (int edit = 0; edit < edits / 40; ++edit) {
      OwnedWordSections damaged = sections;
      std::vector<std::byte>* const parts[] = {&damaged.head, &damaged.index, &damaged.classes,
                                               &damaged.codes};
      std::vector<std::byte>& part = *parts[edit % 4];
      if (part.empty()) continue;
      if (random.one_in(4))
        part.resize(random.below(part.size()));
      else
        part[random.below(part.size())] ^= static_cast<std::byte>(1U << random.below(8));
      try {
        decode_predicted(view_of(damaged), shape, restored, one_by_one);
      } catch (const ArchiveError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > edits / 2);
}

}  // namespace cuszi::test
