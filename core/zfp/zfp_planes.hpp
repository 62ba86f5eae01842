#pragma once

#include <cstdint>
#include <type_traits>

#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_bits.hpp"

namespace cuszi {

#if defined(__CUDA_ARCH__)
/// __byte_perm() in each 32 bits.
__device__ inline std::uint32_t bytes_of(std::uint32_t a, std::uint32_t b, unsigned order) {
  return __byte_perm(a, b, order);
}
__device__ inline std::uint64_t bytes_of(std::uint64_t a, std::uint64_t b, unsigned order) {
  const std::uint64_t high =
      __byte_perm(static_cast<std::uint32_t>(a >> 32), static_cast<std::uint32_t>(b >> 32), order);
  return high << 32 |
         __byte_perm(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), order);
}
#endif

/// Swaps the bits of `a` outside `lower` with those of `b` inside it, `step` lower.
template <int step, class Word>
CUSZI_HD inline void exchange_bits(Word& a, Word& b, Word lower) {
#if defined(__CUDA_ARCH__)
  if constexpr (step == 16 || step == 8) {
    const Word low = bytes_of(a, b, step == 16 ? 0x5410 : 0x6240);
    b = bytes_of(a, b, step == 16 ? 0x7632 : 0x7351);
    a = low;
    return;
  }
#endif
  const Word change = ((a >> step) ^ b) & lower;
  b ^= change;
  a ^= change << step;
}

/// Transposes squares of n x n bits: bit c of word r becomes bit r of word c.
template <int n, class Word, int step = n / 2>
CUSZI_HD inline void transpose_bits(Word* words) {
  constexpr Word lower = static_cast<Word>(~Word{0}) / ((Word{1} << step) + 1);  // of each 2 steps
  for_each_of<n / 2>([&](int i) {
    const int row = i / step * 2 * step + i % step;
    exchange_bits<step>(words[row], words[row + step], lower);
  });
  if constexpr (step > 1) transpose_bits<n, Word, step / 2>(words);
}

/// Layout of a block's bit planes in words. The transposition is its own inverse.
template <class T, int rank>
struct ZfpPlanes {
  using UInt = typename ZfpType<T>::UInt;

  static constexpr int values = zfp_block_values(rank);
  static constexpr int bits = ZfpType<T>::bits;
  static constexpr bool is_small = values < 64;  ///< a word then holds several planes
  using Word = std::conditional_t<is_small, UInt, std::uint64_t>;
  /// 64-bit pieces of a plane, `bits` words apart.
  static constexpr int pieces = is_small ? 1 : values / 64;
  static constexpr int words = is_small ? values : bits * pieces;
  static constexpr int side = is_small ? values : bits;  ///< of the transposed squares

  /// Word and shift of coefficient `i` before the transposition.
  CUSZI_HD static constexpr int word_of(int i) {
    return is_small ? i : i / 64 * bits + i % 64 % bits;
  }
  CUSZI_HD static constexpr int shift_of(int i) { return is_small ? 0 : i % 64 / bits * bits; }

  CUSZI_HD static void transpose(Word* planes) {
    for (int piece = 0; piece < pieces; ++piece) transpose_bits<side>(planes + piece * side);
  }

  /// `planes` must be transposed.
  template <class Words>
  CUSZI_HD static std::uint64_t get(const Words& planes, int plane, int piece = 0) {
    if constexpr (is_small) {
      return (planes[plane % values] >> (plane / values * values)) & low_bits(values);
    } else {
      return planes[piece * bits + plane];
    }
  }

  /// `planes` must be zero there.
  template <class Words>
  CUSZI_HD static void add(Words& planes, int plane, int piece, std::uint64_t ones) {
    if constexpr (is_small) {
      planes[plane % values] |= static_cast<Word>(ones << (plane / values * values));
    } else if constexpr (pieces == 1) {
      planes[plane] = ones;
    } else {
      planes[piece * bits + plane] |= ones;
    }
  }
};

/// For skipping blocks.
struct NoPlanes {};

/// Marks coefficient bits in a window that starts with a test bit. Tests alternate with runs that
/// end with a one, so an odd number of ones precedes coefficient bits.
CUSZI_HD inline std::uint64_t bits_of_runs(std::uint64_t window) {
  std::uint64_t parity = window ^ (window << 1);
  parity ^= parity << 2;
  parity ^= parity << 4;
  parity ^= parity << 8;
  parity ^= parity << 16;
  parity ^= parity << 32;
  return parity << 1;
}

/// Removes the test bits before runs: the n-th one moves down by n - 1 more.
CUSZI_HD inline std::uint64_t without_tests(std::uint64_t ones) {
  std::uint64_t closed = 0;
  while (ones != 0) {
    const std::uint64_t others = ones & (ones - 1);
    closed |= ones ^ others;
    ones = others >> 1;
  }
  return closed;
}

/// Inverse of without_tests().
CUSZI_HD inline std::uint64_t with_tests(std::uint64_t ones) {
  std::uint64_t spread = 0;
  while (ones != 0) {
    const std::uint64_t moved = ones << 1;
    const std::uint64_t others = moved & (moved - 1);
    spread |= moved ^ others;
    ones = others;
  }
  return spread;
}

/// Makes one code sequentially, for CPUs, and by mask operations, for divergent GPU threads.
enum class ZfpRuns { one_by_one, at_once };

/// zfp's embedded coding, highest plane first: verbatim bits of the coefficients up to the last
/// that had a one, then groups of a test bit and, if 1, a run of zeros and its one.
template <class T, int rank, ZfpRuns runs, class Words, class Writer>
class ZfpPlaneWriter {
 public:
  CUSZI_HD ZfpPlaneWriter(const Words& planes, Writer& out) : planes_(planes), out_(out) {}

  /// Writes planes `end - 1` down to `first`, until position `limit`.
  CUSZI_HD void write(int end, int first, BitCount limit) {
    if constexpr (Layout::pieces == 1 && runs == ZfpRuns::one_by_one) {
      write_planes(end, first, limit);
    } else {
      for (int plane = end; plane-- > first && out_.position() < limit;) {
        if constexpr (Layout::pieces == 1) {
          write_plane(plane);
        } else {
          write_long_plane(plane);
        }
      }
    }
  }

 private:
  using Layout = ZfpPlanes<T, rank>;
  static constexpr int values = Layout::values;

  /// One loop over all runs of all planes, so that a warp diverges only at its end.
  CUSZI_HD void write_planes(int end, int first, BitCount limit) {
    if (end <= first || out_.position() >= limit) return;
    int plane = end - 1;
    std::uint64_t rest = Layout::get(planes_, plane);
    for (;;) {
      if (rest != 0) {
        const unsigned zeros = trailing_zeros(rest);
        known_ += static_cast<int>(zeros) + 1;
        const bool is_last = known_ == values;  // implied by its position
        out_.put(1 | (is_last ? 0 : std::uint64_t{2} << zeros), zeros + (is_last ? 1 : 2));
        rest = is_last ? 0 : rest >> zeros >> 1;
        continue;
      }
      const unsigned ends = known_ < values ? 1 : 0;  // terminates the plane
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

  CUSZI_HD void write_plane(int plane) {
    const std::uint64_t ones = Layout::get(planes_, plane);
    const auto known = static_cast<unsigned>(known_);
    std::uint64_t rest = known_ < values ? ones >> known : 0;
    out_.put(ones & low_bits(known), known + (rest == 0 && known_ < values ? 1 : 0));
    while (rest != 0) rest = write_runs(rest);
  }

  /// Writes the runs that end within 31 coefficients, else the next run. Returns the rest of the
  /// plane.
  CUSZI_HD std::uint64_t write_runs(std::uint64_t rest) {
    const std::uint64_t ones = rest & low_bits(31);
    if (ones == 0) return write_long_run(rest);
    const std::uint64_t spread = with_tests(ones);
    const int passed = significant_bits(ones);
    auto bits = static_cast<unsigned>(significant_bits(spread));
    rest >>= passed;
    known_ += passed;
    const std::uint64_t code = (spread | spread << 1 | 1) & low_bits(bits);
    if (known_ == values) {
      --bits;
      out_.put(code & low_bits(bits), bits);
    } else {
      out_.put(code, bits + (rest == 0 ? 1 : 0));
    }
    return rest;
  }

  CUSZI_HD std::uint64_t write_long_run(std::uint64_t rest) {
    const unsigned zeros = trailing_zeros(rest);
    known_ += static_cast<int>(zeros) + 1;
    out_.put(1, zeros + 1);
    rest = rest >> zeros >> 1;
    if (known_ < values) out_.put(1, rest == 0 ? 2 : 1);
    return rest;
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

  /// The first one from position `known_` on; `values` if there is none.
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

/// If the block's bits end within a run, the next coefficient gets a one, as in zfp.
template <class T, int rank, ZfpRuns runs, class Words, class Reader>
class ZfpPlaneReader {
 public:
  CUSZI_HD ZfpPlaneReader(Words& planes, Reader& in) : planes_(planes), in_(in) {}

  /// Reads planes from the highest down to `first`; the block ends at `limit`. `planes` must be
  /// zero.
  CUSZI_HD void read(int first, BitCount limit) {
    const BitCount room = limit - in_.position();
    room_ = room > ZfpParams::most_bits ? ZfpParams::most_bits : static_cast<unsigned>(room);
    if constexpr (Layout::pieces == 1 && runs == ZfpRuns::one_by_one) {
      int plane = Layout::bits - 1;
      std::uint64_t ones = 0;
      while (read_run_or_end(plane, first, ones)) {
      }
    } else {
      read_planes(first);
    }
  }

 private:
  using Layout = ZfpPlanes<T, rank>;
  static constexpr unsigned values = Layout::values;
  static constexpr bool passes = std::is_same_v<Words, NoPlanes>;

  CUSZI_HD void add(int plane, int piece, std::uint64_t ones) {
    if constexpr (!passes) Layout::add(planes_, plane, piece, ones);
  }

  CUSZI_HD static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

  CUSZI_HD void take(unsigned bits) {
    in_.skip(bits);
    room_ -= bits;
  }

  /// Skips all-zero planes, one bit each. Returns the first other plane.
  CUSZI_HD int pass_empty_planes(int first) {
    const unsigned most = least(static_cast<unsigned>(Layout::bits - first), room_);
    const std::uint64_t window = in_.peek();
    const unsigned empty = least(window == 0 ? 64 : trailing_zeros(window), most);
    take(empty);
    return Layout::bits - 1 - static_cast<int>(empty);
  }

  CUSZI_HD std::uint64_t read_known(unsigned count) {
    const unsigned bits = least(count, room_);
    const std::uint64_t plane = in_.peek() & low_bits(bits);
    take(bits);
    return plane;
  }

  CUSZI_HD void read_planes(int first) {
    for (int plane = pass_empty_planes(first); plane >= first && room_ > 0; --plane) {
      if constexpr (Layout::pieces > 1) {
        read_long_plane(plane);
      } else if (passes && known_ == values) {
        const unsigned bits = least(values * static_cast<unsigned>(plane - first + 1), room_);
        in_.go_to(in_.position() + bits);
        return;
      } else {
        read_plane(plane);
      }
    }
  }

  /// Advances the reader at one point, so that warps reconverge.
  CUSZI_HD void read_plane(int plane) {
    const std::uint64_t window = in_.peek();
    unsigned bits = least(known_, room_);
    std::uint64_t ones = window & low_bits(bits);
    if (known_ < values && bits < room_) {
      const bool has_runs = (window >> bits & 1) != 0;
      bits = has_runs ? read_runs(ones) : bits + 1;
    }
    in_.skip_long(bits);
    room_ -= bits;
    add(plane, 0, ones);
  }

  /// A test bit of 1, zeros and a one.
  CUSZI_HD void read_run(std::uint64_t window, std::uint64_t& ones) {
    const unsigned zeros = trailing_zeros((window >> 1) | std::uint64_t{1} << 63);
    const unsigned most = least(values - 1 - known_, room_ - 1);  // bits that can follow
    const unsigned passed = least(zeros, most);
    take(1 + passed + (passed < most ? 1 : 0));
    ones |= std::uint64_t{1} << (known_ + passed);
    known_ += passed + 1;
  }

  /// Reads a run, or the end of a plane and the known bits of the next. Returns false at the end of
  /// the block.
  CUSZI_HD bool read_run_or_end(int& plane, int first, std::uint64_t& ones) {
    if (room_ == 0) {
      add(plane, 0, ones);
      return false;
    }
    const std::uint64_t window = in_.peek();
    const unsigned ends = known_ < values ? 1 : 0;
    if ((window & ends) != 0) {
      read_run(window, ones);
      return true;
    }
    add(plane, 0, ones);
    if (--plane < first) {
      take(ends);
      return false;
    }
    const unsigned bits = least(known_, room_ - ends);
    ones = (window >> ends) & low_bits(bits);
    take(ends + bits);
    return true;
  }

  /// Reads all runs of a plane. Returns the bits of known part and runs.
  CUSZI_HD unsigned read_runs(std::uint64_t& ones) {
    const unsigned known = known_;
    const unsigned room = room_ - known;
    std::uint64_t window = in_.peek_behind(known);
    if (room < 64) window &= low_bits(room);
    const std::uint64_t inside = bits_of_runs(window);
    const std::uint64_t stops = ~(window | inside);  // tests of 0
    if (stops == 0) return read_long_runs(ones);
    std::uint64_t read = (stops - 1) & ~stops;
    unsigned bits = least(count_ones(read) + 1, room);
    unsigned count = count_ones(inside & read);
    const unsigned most = values - 1 - known;
    if (count > most) {  // the last coefficient's one is implied
      bits = place_of_one(inside, most);
      read = low_bits(bits);
      count = most + 1;
      ones |= std::uint64_t{1} << (values - 1);
    }
    ones |= without_tests((window & inside & read) >> 1) << known;
    known_ += count;
    return known + bits;
  }

  /// For runs longer than a window or the block's rest. Advances the reader itself and returns 0.
  CUSZI_HD unsigned read_long_runs(std::uint64_t& ones) {
    take(known_);
    while (known_ < values && room_ > 0) {
      const std::uint64_t window = in_.peek();
      if ((window & 1) == 0) {
        take(1);
        break;
      }
      read_run(window, ones);
    }
    return 0;
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

  /// Reads at most `most` bits: zeros and a one. Returns the one's position.
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
  unsigned room_ = 0;
};

}  // namespace cuszi
