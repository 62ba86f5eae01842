#pragma once

#include <cstdint>
#include <type_traits>

#include "core/zfp.hpp"
#include "core/zfp_bits.hpp"

namespace cuszi {

/// Transposes squares of `n` x `n` bits that stand side by side in `n` words: bit c of word r of
/// each becomes bit r of word c.
template <int n, class Word, int step = n / 2>
CUSZI_HD inline void transpose_bits(Word* words) {
  constexpr Word lower = static_cast<Word>(~Word{0}) / ((Word{1} << step) + 1);  // of each 2 steps
  for_each_of<n / 2>([&](int i) {
    const int row = i / step * 2 * step + i % step;
    const Word change = ((words[row] >> step) ^ words[row + step]) & lower;
    words[row + step] ^= change;
    words[row] ^= change << step;
  });
  if constexpr (step > 1) transpose_bits<n, Word, step / 2>(words);
}

/// How the bit planes of a block of coefficients stand in words. The transposition that makes them
/// of coefficients makes coefficients of them.
template <class T, int rank>
struct ZfpPlanes {
  using UInt = typename ZfpType<T>::UInt;

  static constexpr int values = zfp_block_values(rank);
  static constexpr int bits = ZfpType<T>::bits;
  static constexpr bool is_small = values < 64;  ///< a word then has pieces of several planes
  using Word = std::conditional_t<is_small, UInt, std::uint64_t>;
  /// Pieces of 64 bits that a plane has; those of one plane stand `bits` words apart.
  static constexpr int pieces = is_small ? 1 : values / 64;
  static constexpr int words = is_small ? values : bits * pieces;
  static constexpr int side = is_small ? values : bits;  ///< of the squares that are transposed

  /// Where coefficient `i` stands before the transposition: its word, and how far up.
  CUSZI_HD static constexpr int word_of(int i) {
    return is_small ? i : i / 64 * bits + i % 64 % bits;
  }
  CUSZI_HD static constexpr int shift_of(int i) { return is_small ? 0 : i % 64 / bits * bits; }

  CUSZI_HD static void transpose(Word* planes) {
    for (int piece = 0; piece < pieces; ++piece) transpose_bits<side>(planes + piece * side);
  }

  /// A plane, or a piece of it, of transposed `planes`.
  template <class Words>
  CUSZI_HD static std::uint64_t get(const Words& planes, int plane, int piece = 0) {
    if constexpr (is_small) {
      return (planes[plane % values] >> (plane / values * values)) & low_bits(values);
    } else {
      return planes[piece * bits + plane];
    }
  }

  /// Adds ones to a plane, or to a piece of it, of `planes` that were zero.
  template <class Words>
  CUSZI_HD static void add(Words& planes, int plane, int piece, std::uint64_t ones) {
    if constexpr (is_small) {
      planes[plane % values] |= static_cast<Word>(ones << (plane / values * values));
    } else if constexpr (pieces == 1) {
      planes[plane] = ones;  // all at once
    } else {
      planes[piece * bits + plane] |= ones;
    }
  }
};

/// In place of planes that only have to be passed over.
struct NoPlanes {};

/// Codes the planes of a block, the highest first: of each, the bits of the coefficients that had a
/// one in an earlier plane (`known` of them, for they are sorted), then for the rest whether there
/// is another one, the zeros before it and itself, until there is none.
template <class T, int rank, class Words, class Writer>
class ZfpPlaneWriter {
 public:
  CUSZI_HD ZfpPlaneWriter(const Words& planes, Writer& out) : planes_(planes), out_(out) {}

  /// Writes planes `end - 1` down to `first`, but no more once position `limit` has been reached.
  CUSZI_HD void write(int end, int first, BitCount limit) {
    if constexpr (Layout::pieces == 1) {
      write_planes(end, first, limit);
    } else {
      for (int plane = end; plane-- > first && out_.position() < limit;) write_long_plane(plane);
    }
  }

 private:
  using Layout = ZfpPlanes<T, rank>;
  static constexpr int values = Layout::values;

  /// One loop over all runs of zeros of all planes, so that threads side by side wait for each
  /// other only at its end.
  CUSZI_HD void write_planes(int end, int first, BitCount limit) {
    if (end <= first || out_.position() >= limit) return;
    int plane = end - 1;
    std::uint64_t rest = Layout::get(planes_, plane);
    for (;;) {
      if (rest != 0) {
        const unsigned zeros = trailing_zeros(rest);
        known_ += static_cast<int>(zeros) + 1;
        const bool is_last = known_ == values;  // its one goes without saying
        out_.put(1 | (is_last ? 0 : std::uint64_t{2} << zeros), zeros + (is_last ? 1 : 2));
        rest = is_last ? 0 : rest >> zeros >> 1;
        continue;
      }
      const unsigned ends = known_ < values ? 1 : 0;  // a zero says that there are no more ones
      if (--plane < first || out_.position() + ends >= limit) {
        out_.put(0, ends);
        return;
      }
      const std::uint64_t next = Layout::get(planes_, plane);
      const auto known = static_cast<unsigned>(known_);
      out_.put((next & low_bits(known)) << ends, known + ends);
      rest = ends == 0 ? 0 : next >> known;
    }
  }

  CUSZI_HD void write_long_plane(int plane) {
    for (int at = 0; at < known_; at += 64) {
      const auto bits = static_cast<unsigned>(known_ - at < 64 ? known_ - at : 64);
      out_.put(Layout::get(planes_, plane, at / 64) & low_bits(bits), bits);
    }
    while (known_ < values) {
      const int one = next_one(plane);
      if (one == values) {
        out_.put(0, 1);
        return;
      }
      out_.put(1, 1);
      out_.put_zeros(static_cast<BitCount>(one - known_));
      known_ = one + 1;
      if (known_ < values) out_.put(1, 1);
    }
  }

  /// The first one of a plane from place `known_` on; `values` if there is none.
  CUSZI_HD int next_one(int plane) const {
    int at = known_;
    while (at < values) {
      const std::uint64_t rest = Layout::get(planes_, plane, at / 64) >> (at % 64);
      if (rest != 0) return at + static_cast<int>(trailing_zeros(rest));
      at = at / 64 * 64 + 64;
    }
    return values;
  }

  const Words& planes_;
  Writer& out_;
  int known_ = 0;
};

/// Reads what ZfpPlaneWriter wrote. Where the bits of a block ended in the middle of a plane, the
/// next coefficient after the zeros that were read gets a one: so zfp does.
template <class T, int rank, class Words, class Reader>
class ZfpPlaneReader {
 public:
  CUSZI_HD ZfpPlaneReader(Words& planes, Reader& in) : planes_(planes), in_(in) {}

  /// Reads planes of a block that ends at `limit`, from the highest down to `first`, into `planes`,
  /// which are zero.
  CUSZI_HD void read(int first, BitCount limit) {
    begin(first, limit);
    while (step()) {
    }
  }

  /// The same in steps that all take about the same time. False after the last one.
  CUSZI_HD void begin(int first, BitCount limit) {
    const BitCount room = limit - in_.position();
    room_ = room > ZfpParams::most_bits ? ZfpParams::most_bits : static_cast<unsigned>(room);
    first_ = first;
    at_ = Layout::bits - 1;
    plane_ = 0;
    known_ = 0;
  }
  CUSZI_HD bool step() {
    if constexpr (Layout::pieces == 1) {
      return read_run();
    } else {
      if (at_ < first_ || room_ == 0) return false;
      read_long_plane(at_--);
      return true;
    }
  }

 private:
  using Layout = ZfpPlanes<T, rank>;
  static constexpr unsigned values = Layout::values;

  CUSZI_HD void add(int plane, int piece, std::uint64_t ones) {
    if constexpr (!std::is_same_v<Words, NoPlanes>) Layout::add(planes_, plane, piece, ones);
  }

  CUSZI_HD static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

  CUSZI_HD void take(unsigned bits) {
    in_.skip(bits);
    room_ -= bits;
  }

  /// Reads the bits of up to 64 coefficients.
  CUSZI_HD std::uint64_t read_known(unsigned count) {
    const unsigned bits = least(count, room_);
    const std::uint64_t plane = in_.peek() & low_bits(bits);
    take(bits);
    return plane;
  }

  /// Reads zeros and the one behind them, or else the end of a plane and what is known of the next.
  CUSZI_HD bool read_run() {
    if (room_ == 0) {
      add(at_, 0, plane_);
      return false;
    }
    const std::uint64_t window = in_.peek();
    const unsigned ends = known_ < values ? 1 : 0;
    if ((window & ends) != 0) {
      const unsigned zeros = trailing_zeros((window >> 1) | std::uint64_t{1} << 63);
      const unsigned most = least(values - 1 - known_, room_ - 1);  // bits that can follow
      const unsigned passed = least(zeros, most);
      take(1 + passed + (passed < most ? 1 : 0));
      plane_ |= std::uint64_t{1} << (known_ + passed);
      known_ += passed + 1;
      return true;
    }
    add(at_, 0, plane_);
    if (--at_ < first_) {
      take(ends);
      return false;
    }
    const unsigned bits = least(known_, room_ - ends);
    plane_ = (window >> ends) & low_bits(bits);
    take(ends + bits);
    return true;
  }

  CUSZI_HD void read_long_plane(int plane) {
    for (unsigned at = 0; at < known_; at += 64) {
      add(plane, static_cast<int>(at / 64), read_known(least(known_ - at, 64)));
    }
    while (known_ < values && room_ > 0) {
      const bool is_last_group = (in_.peek() & 1) == 0;
      take(1);
      if (is_last_group) return;
      const unsigned one = pass_zeros(least(values - 1 - known_, room_));
      add(plane, static_cast<int>(one / 64), std::uint64_t{1} << (one % 64));
      known_ = one + 1;
    }
  }

  /// Reads zeros and the one behind them, `most` bits at most: the place of the one.
  CUSZI_HD unsigned pass_zeros(unsigned most) {
    for (; most >= 63 && in_.peek() == 0; most -= least(most, 64)) {
      known_ += least(most, 64);
      take(least(most, 64));
    }
    const unsigned zeros = least(trailing_zeros(in_.peek() | std::uint64_t{1} << 63), most);
    take(zeros + (zeros < most ? 1 : 0));
    return known_ + zeros;
  }

  Words& planes_;
  Reader& in_;
  unsigned known_ = 0;
  unsigned room_ = 0;  ///< bits that are left
  int first_ = 0;
  int at_ = 0;               ///< the plane that is being read,
  std::uint64_t plane_ = 0;  ///< as far as it has been
};

}  // namespace cuszi
