#pragma once

#include <cstdint>

#include "core/base/hd.hpp"
#include "core/base/units.hpp"
#include "core/coders/ans_slots.hpp"

namespace cuszi {

// The head of a segment: the states of its lanes, half of which are below 2^24 and have no fourth
// byte. First a word
// of 32 bits, bit i of which tells that the state of lane i has one, then the states' bytes, three
// or four each from the lowest on, padded by zeros to words.

inline constexpr std::uint32_t short_state_bytes = 3;
inline constexpr std::uint32_t most_head_words = 1 + most_lanes;

CUSZI_HD constexpr bool is_long_state(std::uint32_t state) {
  return state >> (8 * short_state_bytes) != 0;
}
/// The bytes of the states of some lanes, of which some are long.
CUSZI_HD constexpr std::uint32_t state_bytes(std::uint32_t lanes, std::uint32_t long_ones) {
  return short_state_bytes * lanes + long_ones;
}
CUSZI_HD constexpr std::uint32_t head_words(std::uint32_t lanes, std::uint32_t long_ones) {
  return 1 + static_cast<std::uint32_t>(ceil_div(state_bytes(lanes, long_ones), 4));
}

}  // namespace cuszi
