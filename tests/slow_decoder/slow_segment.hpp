#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/cells/chain.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi::slow {

/// The lanes of a segment, and the words that they take.
class SlowSegment {
 public:
  SlowSegment(Bytes bytes, std::size_t lanes) : in_(bytes, "a segment"), states_(lanes) {
    const auto long_ones = in_.get<std::uint32_t>();
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const int state_bytes = (long_ones >> lane & 1) != 0 ? 4 : 3;
      for (int i = 0; i < state_bytes; ++i)
        states_[lane] |= std::uint32_t{in_.get<std::uint8_t>()} << (8 * i);
    }
    while (in_.position() % 4 != 0)
      if (in_.get<std::uint8_t>() != 0) throw ArchiveError("states are not padded by zeros");
  }
  std::uint32_t take_symbol(std::size_t lane, const SymbolTable& table) {
    const std::uint32_t symbol = next_symbol(lane, table);
    take(lane, share_of(table, symbol));
    return symbol;
  }
  /// The token of a code. Those that have a sign which the lane carries come out positive.
  std::uint32_t take_token(std::size_t lane, const SymbolTable& table, std::uint32_t& carried) {
    std::uint32_t token = next_symbol(lane, table);
    if (!has_small_sign(token) || carried == most_carried_signs) return take_symbol(lane, table);
    token = positive_token(token);
    take(lane, share_of_pair(share_of(table, token)));
    ++carried;
    return token;
  }
  /// The signs that a lane carries, the first in the lowest bit, once all else has been taken.
  std::uint32_t take_signs(std::size_t lane, std::uint32_t count) {
    const std::uint32_t signs = states_[lane] - lane_start;
    if (signs >> count != 0) throw ArchiveError("a lane carries more signs than it has");
    states_[lane] = lane_start;
    return signs;
  }
  /// The word of lists that a lane carries, once all else has been taken.
  std::uint16_t take_word(std::size_t lane) {
    const std::uint32_t word = states_[lane] - lane_start;
    if (word >> 16 != 0) throw ArchiveError("a lane carries more than a word");
    states_[lane] = lane_start;
    return static_cast<std::uint16_t>(word);
  }
  std::uint32_t take_raw(std::size_t lane, std::uint32_t bits) {
    const std::uint32_t raw = states_[lane] % (1U << bits);
    states_[lane] >>= bits;
    refill(lane);
    return raw;
  }
  void check_end() {
    for (const std::uint32_t state : states_)
      if (state != lane_start) throw ArchiveError("a lane does not end in its first state");
    if (in_.position() % 4 != 0 && in_.get<std::uint16_t>() != 0)
      throw ArchiveError("a segment is not padded by zeros");
    in_.expect_end();
  }

 private:
  static SymbolShare share_of(const SymbolTable& table, std::uint32_t symbol) {
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < symbol; ++i) first += table.frequencies[i];
    return {table.frequencies[symbol], first};
  }
  std::uint32_t next_symbol(std::size_t lane, const SymbolTable& table) const {
    const std::uint32_t slot = states_[lane] % table_probability_one;
    std::uint32_t symbol = 0;
    std::uint32_t end = table.frequencies[0];
    while (end <= slot) end += table.frequencies[++symbol];
    return symbol;
  }
  void take(std::size_t lane, const SymbolShare& share) {
    states_[lane] = without_symbol(states_[lane], share);
    refill(lane);
  }
  void refill(std::size_t lane) {
    if (states_[lane] < lane_start) states_[lane] = states_[lane] << 16 | in_.get<std::uint16_t>();
  }

  ByteReader in_;
  std::vector<std::uint32_t> states_;
};

}  // namespace cuszi::slow
