#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/cost.hpp"
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

/// The differences of a box of a frame in the order of its blocks.
template <class Word>
void predict_box(const Word* bits, const WordChoice<Word>& choice, const Extents3& extents,
                 const WordBox& box, const Extents3& block, Word* to);

/// The scales with which all values have words.
struct WordScales {
  int zeros = 0;                 ///< low bits that are 0, below digits
  std::optional<int> multiples;  ///< the largest exponent whose multiples they are, if there is one
  std::uint64_t integer_step = 0;  ///< of integers: the odd number that most are multiples of
};

/// What scales follow from. Values may be scanned in any order, and in parts.
template <class Word>
struct ScaleScan {
  Word seen = 0;             ///< all bits
  std::uint32_t is_odd = 0;  ///< a value is no integer times a power of two
  /// All values are multiples of 2^least, the largest that a map can have.
  int least = FloatParts<Word>::exponents - 1;
  int end = 0;  ///< all values are below 2^end

  CUSZI_HD void add(Word bits) {
    seen |= bits;
    if (!may_be_multiples()) return;
    const auto parts = FloatParts<Word>::of(bits);
    if (parts.magnitude == 0) {
      if (bits != 0) is_odd = 1;  // -0
      return;
    }
    if (!FloatParts<Word>::is_finite(bits)) is_odd = 1;
    const Word lowest = parts.magnitude & (Word{0} - parts.magnitude);
    const int first = parts.exponent + static_cast<int>(bit_width_of(lowest)) - 1;
    const int behind = parts.exponent + static_cast<int>(bit_width_of(parts.magnitude));
    if (first < least) least = first;
    if (behind > end) end = behind;
  }
  void add(const ScaleScan& other) {
    seen |= other.seen;
    is_odd |= other.is_odd;
    least = std::min(least, other.least);
    end = std::max(end, other.end);
  }
  /// Once it is false, it stays.
  CUSZI_HD bool may_be_multiples() const {
    return is_odd == 0 && end - least < FloatParts<Word>::digits;
  }
  /// Whether more values change no scales.
  CUSZI_HD bool is_settled() const { return seen % 2 != 0 && !may_be_multiples(); }
  WordScales scales() const;
};
template <class Word>
WordScales scales_of(std::span<const Word> bits, const ForEach& for_each);

/// Values whose median becomes word 0.
inline constexpr std::uint64_t most_base_samples = 1024;

/// Boxes of about 4096 points, spread over the frame, in which choices are compared.
std::vector<WordBox> sample_boxes(const Extents3& extents);
/// Whether a block of a sampled box counts: differences at the near faces of a box are larger than
/// in a chunk.
CUSZI_HD constexpr bool is_counted(const Extents3& at, const Extents3& box, const Extents3& block) {
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    if (at[axis] == 0 && box[axis] > block[axis]) return false;
  return true;
}

/// What the tokens of each choice, and their tables, cost in the boxes.
template <class Word>
using CostsOf = std::function<std::vector<Cost>(std::span<const WordChoice<Word>>)>;

/// The cheapest of several choices. `base_sample`: bits of sampled values.
template <class Word>
WordChoice<Word> choose_words(const Extents3& extents, const WordScales& scales,
                              std::span<const Word> base_sample, const CostsOf<Word>& costs_of);
/// choose_words() of bits in host memory, which compares the choices there.
template <class Word>
WordChoice<Word> choose_words(const Word* bits, const Extents3& extents, const WordScales& scales,
                              const ForEach& for_each);

}  // namespace cuszi
