#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/lane_states.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi {

// Interleaved rANS by symbol tables on a host: the parts that encoders and decoders of segments
// share.

inline constexpr const char* chain_damage = "a chain does not end as it should";

/// A flag of each lane, 0 or 1: bytes, as loops over lanes set them in vectors.
using LaneFlags = std::uint8_t[most_lanes];

/// The lanes whose flags are 1, as bits.
inline std::uint32_t lanes_of(const LaneFlags& flags) {
  constexpr std::uint64_t byte_to_bit = 0x0102040810204080;  // in the highest byte of the product
  std::uint32_t lanes = 0;
  for (std::uint32_t first = 0; first < most_lanes; first += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + first, sizeof eight);
    lanes |= static_cast<std::uint32_t>(eight * byte_to_bit >> 56) << first;
  }
  return lanes;
}

/// Moves words between lanes and a chain one by one; backends may have vectors for it.
struct WordByWord {
  /// Shifts words into the states of the lanes whose flags are set, in their order. Returns how
  /// many.
  static std::size_t refill(const LaneFlags& flags, const std::uint16_t* words,
                            std::uint32_t* states) {
    std::size_t taken = 0;
    for (std::uint32_t low = lanes_of(flags); low != 0; low &= low - 1) {
      const int lane = std::countr_zero(low);
      states[lane] = states[lane] << 16 | words[taken++];
    }
    return taken;
  }
  /// Puts what the lanes whose flags are set have spilled before `end`, in their order. Returns
  /// how many words these are.
  static std::size_t spill(const LaneFlags& flags, const std::uint16_t* spilled,
                           std::uint16_t* end) {
    std::size_t put = 0;
    for (std::uint32_t spilling = lanes_of(flags); spilling != 0;) {
      const auto lane = static_cast<std::size_t>(std::bit_width(spilling) - 1);
      *(end - ++put) = spilled[lane];
      spilling ^= 1U << lane;
    }
    return put;
  }
};

using EncoderTable = std::array<PackedSymbolShare, token_places>;

inline EncoderTable encoder_table(const SymbolTable& table) {
  EncoderTable shares;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < token_places; ++i) {
    shares[i] = PackedSymbolShare::of({table.frequencies[i], first});
    first += table.frequencies[i];
  }
  return shares;
}

/// By the lowest bits of a state: symbol, frequency, and the place within it.
using DecoderTable = std::array<std::uint32_t, table_probability_one>;

inline DecoderTable decoder_table(const SymbolTable& table) {
  DecoderTable entries;
  std::size_t at = 0;
  for (std::uint32_t symbol = 0; symbol < token_places; ++symbol) {
    const std::uint32_t frequency = table.frequencies[symbol];
    for (std::uint32_t place = 0; place < frequency; ++place)
      entries[at++] = symbol | frequency << 6 | place << 18;
  }
  return entries;
}
inline std::uint32_t take_symbol(std::uint32_t state, std::uint32_t entry) {
  return (entry >> 6 & 0xFFFU) * (state >> table_probability_bits) + (entry >> 18);
}

/// Makes a table for coding of each table of frequencies.
template <std::size_t count, class Make>
auto all_tables(const SymbolTable (&tables)[count], const Make& make) {
  std::vector<decltype(make(tables[0]))> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = make(tables[i]);
  return made;
}

/// The words of a segment, from the last to the first.
class WordsBackwards {
 public:
  explicit WordsBackwards(std::size_t most) : words_(most), at_(most) {}

  /// Puts the low half of a state if it spills. Whether it does is no branch: none could predict
  /// it.
  void spill(bool spills, std::uint32_t& state) {
    const std::uint32_t spilled = spills ? 1 : 0;
    words_[at_ - 1] = static_cast<std::uint16_t>(state);
    at_ -= spilled;
    state >>= 16 * spilled;
  }

  void put(const PackedSymbolShare& share, std::uint32_t& state) {
    spill(share.spills(state), state);
    state = share.put(state);
  }

  /// Puts what lanes have spilled, from the last to the first.
  template <class Moves = WordByWord>
  void put(const LaneFlags& spills, const std::uint16_t* spilled) {
    at_ -= Moves::spill(spills, spilled, words_.data() + at_);
  }

  std::vector<std::byte> segment(std::span<const std::uint32_t> states) const {
    std::uint32_t long_ones = 0;
    std::vector<std::byte> bytes(sizeof long_ones);
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
      const std::uint32_t is_long = is_long_state(states[lane]) ? 1 : 0;
      long_ones |= is_long << lane;
      const Bytes state = std::as_bytes(states.subspan(lane, 1)).first(short_state_bytes + is_long);
      bytes.insert(bytes.end(), state.begin(), state.end());
    }
    std::memcpy(bytes.data(), &long_ones, sizeof long_ones);
    bytes.resize(ceil_div(bytes.size(), 4) * 4);
    const Bytes words = std::as_bytes(std::span(words_).subspan(at_));
    bytes.insert(bytes.end(), words.begin(), words.end());
    bytes.resize(ceil_div(bytes.size(), 4) * 4);
    return bytes;
  }

 private:
  std::vector<std::uint16_t> words_;
  std::size_t at_;
};

/// The states of a segment's lanes and the words behind its head, padded by those of a step.
class SegmentWords {
 public:
  SegmentWords(Bytes segment, std::uint32_t lanes) {
    if (segment.size() % 4 != 0 || segment.empty()) throw ArchiveError(chain_damage);
    std::uint32_t long_ones;
    std::memcpy(&long_ones, segment.data(), sizeof long_ones);
    const std::size_t head =
        4 * head_words(lanes, static_cast<std::uint32_t>(std::popcount(long_ones)));
    if (segment.size() < head) throw ArchiveError(chain_damage);
    std::fill(std::begin(states), std::end(states), lane_start);
    const std::byte* at = segment.data() + sizeof long_ones;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t bytes = short_state_bytes + (long_ones >> lane & 1);
      states[lane] = 0;
      std::memcpy(states + lane, at, bytes);
      at += bytes;
    }
    const Bytes rest = segment.subspan(head);
    count_ = rest.size() / 2;
    words_.resize(count_ + 2 * most_lanes + 1);
    std::memcpy(words_.data(), rest.data(), rest.size());
  }

  void refill(std::uint32_t& state) {
    const std::uint32_t taken = needs_refill(state) ? 1 : 0;
    state = state << 16 * taken | (words_[at_] & (0U - taken));
    at_ += taken;
  }
  /// Gives a word each to the lanes whose flags are set, in their order.
  template <class Moves = WordByWord>
  void refill_lanes(const LaneFlags& low) {
    at_ += Moves::refill(low, words_.data() + at_, states);
  }
  /// Takes a symbol of a lane.
  std::uint32_t take(const DecoderTable& table, std::uint32_t& state) {
    const std::uint32_t entry = table[state % table_probability_one];
    state = take_symbol(state, entry);
    refill(state);
    return entry % token_places;
  }
  /// After each step.
  void check() const {
    if (at_ > count_) throw ArchiveError(chain_damage);
  }
  /// The 16 bits that the last state of a lane carries.
  std::uint16_t take_carried(std::uint32_t lane) {
    const std::uint32_t carried = states[lane] - lane_start;
    if (carried >> 16 != 0) throw ArchiveError(chain_damage);
    states[lane] = lane_start;
    return static_cast<std::uint16_t>(carried);
  }
  void check_end() const {
    const bool is_padded = at_ + 1 == count_ && words_[at_] == 0 && at_ % 2 != 0;
    bool ends = at_ == count_ || is_padded;
    for (const std::uint32_t state : states) ends &= state == lane_start;
    if (!ends) throw ArchiveError(chain_damage);
  }

  std::uint32_t states[most_lanes];

 private:
  std::vector<std::uint16_t> words_;
  std::size_t count_ = 0;
  std::size_t at_ = 0;
};

/// Appends a segment to a section, and its size to an index.
inline void append_segment(Bytes segment, std::vector<std::byte>& index,
                           std::vector<std::byte>& out) {
  const auto size = static_cast<std::uint32_t>(segment.size());
  const Bytes entry = std::as_bytes(std::span(&size, 1));
  index.insert(index.end(), entry.begin(), entry.end());
  out.insert(out.end(), segment.begin(), segment.end());
}

/// Cuts segments off a section, of the sizes that the index has from entry `first` on.
inline std::vector<Bytes> cut_first_segments(Bytes index, std::uint64_t first, std::uint64_t count,
                                             Bytes& section) {
  std::vector<Bytes> segments;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint32_t size;
    std::memcpy(&size, index.data() + 4 * (first + i), 4);
    if (size > section.size()) throw ArchiveError(chain_damage);
    segments.push_back(section.first(size));
    section = section.subspan(size);
  }
  return segments;
}
/// Cuts a section that has nothing but such segments.
inline std::vector<Bytes> cut_segments(Bytes index, std::uint64_t first, std::uint64_t count,
                                       Bytes section) {
  auto segments = cut_first_segments(index, first, count, section);
  if (!section.empty()) throw ArchiveError(chain_damage);
  return segments;
}

}  // namespace cuszi
