#pragma once

#include <cstdint>

#include "core/cells/blocks.hpp"
#include "core/cells/chain.hpp"

namespace cuszi {

// Sparse blocks: classes 1 to 3 tell the sum of the magnitudes of a whole block exactly. Such a
// block has no tokens, but a list of its units: a code of magnitude m is m units at its position.
// Units of one sign come first, in the order of positions, then those of the other sign; the sign
// changes where positions fall. If units of both signs can be first, the positive ones are. So a
// list is one bit for the sign of the first unit, from the lowest bit on, and 6 bits for each
// position. A list of two units has as many values as there are such blocks: 2^13.

inline constexpr std::uint32_t most_sparse_sum = 3;
inline constexpr std::uint32_t unit_bits = 6;
static_assert(cell_block_codes == 1 << unit_bits);

CUSZI_HD constexpr bool is_sparse_block(std::uint32_t kind, std::uint64_t coded) {
  return kind - 1 < most_sparse_sum && ~coded == 0;
}
/// The bits of the lists of so many sparse blocks, which have so many units.
CUSZI_HD constexpr std::uint32_t bits_of_lists(std::uint32_t blocks, std::uint32_t units) {
  return blocks + unit_bits * units;
}
/// The bits of the list of a sparse block, given its class.
CUSZI_HD constexpr std::uint32_t list_bits(std::uint32_t kind) { return bits_of_lists(1, kind); }

/// Makes the list of a sparse block, given its codes that are not 0 in their order.
class UnitLister {
 public:
  CUSZI_HD void add(std::uint32_t position, int code) {
    const auto count = static_cast<std::uint32_t>(code < 0 ? -code : code);
    constexpr std::uint32_t most_position = cell_block_codes - 1;
    const std::uint32_t units = position * (((1U << unit_bits * count) - 1) / most_position);
    if (code > 0) {
      last_positive_ = static_cast<int>(position);
      positives_ |= units << unit_bits * positive_count_;
      positive_count_ += count;
    } else {
      if (negative_count_ == 0) first_negative_ = static_cast<int>(position);
      negatives_ |= units << unit_bits * negative_count_;
      negative_count_ += count;
    }
  }
  CUSZI_HD std::uint32_t list() const {
    if (negative_count_ > 0 && last_positive_ < first_negative_)
      return 1 | negatives_ << 1 | positives_ << (1 + unit_bits * negative_count_);
    return positives_ << 1 | negatives_ << (1 + unit_bits * positive_count_);
  }

 private:
  std::uint32_t positives_ = 0;
  std::uint32_t negatives_ = 0;
  std::uint32_t positive_count_ = 0;
  std::uint32_t negative_count_ = 0;
  int last_positive_ = -1;
  int first_negative_ = 0;
};

/// Adds the units of a list to the codes of its block, which are 0 before.
CUSZI_HD inline void add_units(std::uint32_t list, std::uint32_t kind, std::int16_t* codes) {
  int unit = (list & 1) != 0 ? -1 : 1;
  std::uint32_t before = 0;
  list >>= 1;
  for (std::uint32_t i = 0; i < kind; ++i, list >>= unit_bits) {
    const std::uint32_t position = list % cell_block_codes;
    if (position < before) unit = -unit;
    codes[position] = static_cast<std::int16_t>(codes[position] + unit);
    before = position;
  }
}

// The lists of a pass are a string of bits in the order of blocks, in words of 16 bits from the
// lowest bit on. The first words are what the lanes of classes carry in their last states, a word
// a lane, in order; the others stand behind the segments of classes, padded to 4 bytes.

inline constexpr std::uint32_t list_word_bits = 16;

CUSZI_HD constexpr std::uint64_t list_words(std::uint64_t bits) {
  return ceil_div(bits, std::uint64_t{list_word_bits});
}
/// The list that begins at a bit of a pass's words, and bits behind it.
template <class Words>
CUSZI_HD std::uint32_t list_at(const Words& words, std::uint64_t bit) {
  const std::uint64_t first = bit / list_word_bits;
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < 3; ++i)
    bits |= static_cast<std::uint64_t>(words[first + i]) << list_word_bits * i;
  return static_cast<std::uint32_t>(bits >> bit % list_word_bits);
}
/// The bytes of those of a pass's words that its lanes do not carry.
CUSZI_HD constexpr std::uint64_t list_bytes(std::uint64_t words, std::uint64_t lanes) {
  return words > lanes ? ceil_div(words - lanes, 2) * 4 : 0;
}

}  // namespace cuszi
