#pragma once

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

/// The cheapest of several orders in sampled boxes. `shift` low bits of all values are 0.
template <class Word>
WordChoice<Word> choose_orders(const Word* bits, const Extents3& extents, int shift,
                               const ForEach& for_each);

}  // namespace cuszi
