#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace cuszi::cpu {

/// Compacts flagged bytes of eight and back, by masked moves: no branch depends on the flags.
class FlaggedBytes {
 public:
  /// Bytes that are not flagged must be 0.
  static std::uint64_t gather(std::uint64_t bytes, std::uint32_t flags) {
    const Moves& moves = moves_of_flags[flags];
    for (unsigned i = 0; i < 3; ++i) {
      const std::uint64_t moved = bytes & moves.from[i];
      bytes = (bytes ^ moved) | moved >> (8U << i);
    }
    return bytes;
  }

  /// Inverse of gather(); ignores further bytes.
  static std::uint64_t scatter(std::uint64_t bytes, std::uint32_t flags) {
    const Moves& moves = moves_of_flags[flags];
    for (unsigned i = 3; i-- > 0;) {
      bytes ^= (bytes ^ bytes << (8U << i)) & moves.from[i];
    }
    return bytes & moves.named;
  }

  static std::uint32_t count(std::uint32_t flags) { return counts_of_flags[flags]; }

 private:
  struct Moves {
    std::uint64_t named = 0;
    std::uint64_t from[3] = {};  ///< bytes moved down by 1, 2 and 4
  };

  static constexpr Moves moves_of(unsigned flags) {
    Moves moves;
    unsigned rank = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      if (((flags >> byte) & 1) == 0) continue;
      moves.named |= std::uint64_t{255} << (8 * byte);
      unsigned at = byte;
      for (unsigned i = 0; i < 3; ++i) {
        if ((((byte - rank) >> i) & 1) == 0) continue;
        moves.from[i] |= std::uint64_t{255} << (8 * at);
        at -= 1U << i;
      }
      ++rank;
    }
    return moves;
  }

  template <class Entry, class F>
  static constexpr std::array<Entry, 256> for_all_flags(const F& f) {
    std::array<Entry, 256> table{};
    for (unsigned flags = 0; flags < 256; ++flags) table[flags] = f(flags);
    return table;
  }

  static const std::array<Moves, 256> moves_of_flags;
  static const std::array<std::uint8_t, 256> counts_of_flags;
};

inline constexpr std::array<FlaggedBytes::Moves, 256> FlaggedBytes::moves_of_flags =
    for_all_flags<Moves>(moves_of);
inline constexpr std::array<std::uint8_t, 256> FlaggedBytes::counts_of_flags =
    for_all_flags<std::uint8_t>(
        [](unsigned flags) { return static_cast<std::uint8_t>(std::popcount(flags)); });

}  // namespace cuszi::cpu
