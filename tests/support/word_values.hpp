#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "core/field/stored_type.hpp"
#include "core/lossless/predicted.hpp"
#include "test_data/random.hpp"

namespace cuszi::test {

/// Of any rank, some of them tiny along an axis.
inline Dims random_dims(Random& random) {
  std::uint64_t extents[Dims::max_rank];
  const auto rank = 1 + random.below(Dims::max_rank);
  const std::uint64_t most[] = {20'000, 150, 28, 12};
  for (std::size_t axis = 0; axis < rank; ++axis)
    extents[axis] = 1 + random.below(random.one_in(3) ? 4 : most[rank - 1]);
  return *Dims::make(std::span(extents).first(rank));
}

/// Words of random size about a random walk: any bit pattern comes, in regions of any magnitude.
template <class Word>
void fill_words(std::span<Word> words, Random& random) {
  constexpr std::uint64_t digits = 8 * sizeof(Word);
  Word value = static_cast<Word>(random.next());
  std::uint64_t quiet = random.below(digits + 1);
  const auto mask =
      static_cast<Word>(~std::uint64_t{0} << (random.one_in(4) ? random.below(digits) : 0));
  const std::uint64_t region = 1 + random.below(500);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % region == 0) quiet = random.below(digits + 1);
    if (random.one_in(200)) value = static_cast<Word>(random.next());
    const Word noise =
        quiet == digits ? Word{0} : static_cast<Word>(static_cast<Word>(random.next()) >> quiet);
    value = static_cast<Word>(random.one_in(2) ? value + noise : value - noise);
    words[i] = static_cast<Word>(value & mask);
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

/// Values of any type.
inline std::vector<std::byte> random_values(const FrameShape& shape, Random& random) {
  std::vector<std::byte> values(shape.bytes());
  if (random.one_in(5) && !is_cast(shape.dtype)) {
    with_type_of(shape.dtype, [&]<class T>(T) {
      fill_multiples(std::span(reinterpret_cast<T*>(values.data()), shape.points()), random);
    });
    return values;
  }
  const auto fill_as = [&]<class Word>(Word) {
    fill_words(std::span(reinterpret_cast<Word*>(values.data()), shape.points()), random);
  };
  switch (size_of(shape.dtype)) {
    case 1: fill_as(std::uint8_t{}); break;
    case 2: fill_as(std::uint16_t{}); break;
    case 4: fill_as(std::uint32_t{}); break;
    default: fill_as(std::uint64_t{});
  }
  return values;
}

inline WordSections<Bytes> view_of(const OwnedWordSections& sections) {
  return {sections.head, sections.index, sections.classes, sections.codes, sections.raw};
}

}  // namespace cuszi::test
