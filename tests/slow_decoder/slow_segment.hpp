#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi::slow {

/// The lanes of a segment, and the words that they take.
class SlowSegment {
 public:
  SlowSegment(Bytes bytes, std::size_t lanes) : in_(bytes, "a segment"), states_(lanes) {
    for (std::uint32_t& state : states_) state = in_.get<std::uint32_t>();
  }
  std::uint32_t take_symbol(std::size_t lane, const SymbolTable& table) {
    const std::uint32_t slot = states_[lane] % table_probability_one;
    std::uint32_t symbol = 0;
    std::uint32_t first = 0;
    while (first + table.frequencies[symbol] <= slot) first += table.frequencies[symbol++];
    states_[lane] = without_symbol(states_[lane], {table.frequencies[symbol], first});
    refill(lane);
    return symbol;
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
  void refill(std::size_t lane) {
    if (states_[lane] < lane_start) states_[lane] = states_[lane] << 16 | in_.get<std::uint16_t>();
  }

  ByteReader in_;
  std::vector<std::uint32_t> states_;
};

}  // namespace cuszi::slow
