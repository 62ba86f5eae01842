#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/lossless.hpp"
#include "core/lossless/word_grid.hpp"
#include "core/lossless/word_map.hpp"

namespace cuszi {

/// How a frame's words are made and predicted.
template <class Word>
struct WordChoice {
  WordMap<Word> map;
  Orders orders;
};

/// The scales with which all values have words.
struct WordScales {
  int zeros = 0;                 ///< low bits that are 0, below digits
  std::optional<int> multiples;  ///< the largest exponent whose multiples they are, if there is one
  std::uint64_t integer_step = 0;  ///< of integers: the odd number that most are multiples of
};
template <class Word>
WordScales scales_of(std::span<const Word> bits, const ForEach& for_each);

/// The cheapest of several choices in sampled boxes.
template <class Word>
WordChoice<Word> choose_orders(const Word* bits, const Extents3& extents, const WordScales& scales,
                               const ForEach& for_each);

}  // namespace cuszi
