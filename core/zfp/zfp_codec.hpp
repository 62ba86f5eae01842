#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/zfp/zfp_bits.hpp"
#include "core/zfp/zfp_block.hpp"
#include "core/zfp/zfp_planes.hpp"

namespace cuszi {

struct ZfpHead {
  std::uint64_t bits = 0;
  unsigned count = 0;
  int first_plane = 0;  ///< lowest coded
  int planes = 0;       ///< coded ones, from the type's highest down
  int end_plane = 0;    ///< above the highest with a one

  CUSZI_HD void put(std::uint64_t value, unsigned value_bits) {
    bits |= value << count;
    count += value_bits;
  }
};

/// For blocks whose restored values are not needed.
struct NobodySees {};

template <class T, int rank>
struct ZfpBlock {
  using Type = ZfpType<T>;
  using Int = typename Type::Int;
  using UInt = typename Type::UInt;
  using Layout = ZfpPlanes<T, rank>;
  using Word = typename Layout::Word;
  static constexpr int values = Layout::values;

  /// Valid if head.planes > 0. Unless reversible, calls see(restored) with the values restored
  /// without truncation by max_bits.
  template <class See = NobodySees>
  CUSZI_HD static ZfpHead to_planes(const ZfpParams& params, const T* block, Word* planes,
                                    const See& see = {}) {
    return params.is_reversible() ? to_planes_reversibly(params, block, planes)
                                  : to_planes_lossily(params, block, planes, see);
  }

  /// Writes head and planes up to max_bits, without padding to min_bits.
  template <ZfpRuns runs = ZfpRuns::one_by_one, class Words, class Writer>
  CUSZI_HD static void write_unpadded(const ZfpParams& params, const ZfpHead& head,
                                      const Words& planes, Writer& out) {
    const BitCount limit = out.position() + params.max_bits;
    out.put(head.bits, head.count);
    if (head.planes == 0) return;
    const int highest = head.end_plane > head.first_plane ? head.end_plane : head.first_plane;
    out.put_zeros(static_cast<BitCount>(Type::bits - highest));  // all-zero planes
    ZfpPlaneWriter<T, rank, runs, Words, Writer>(planes, out)
        .write(highest, head.first_plane, limit);
    out.cut(limit);
  }

  template <ZfpRuns runs = ZfpRuns::one_by_one, class Words, class Writer>
  CUSZI_HD static void write(const ZfpParams& params, const ZfpHead& head, const Words& planes,
                             Writer& out) {
    const BitCount end = out.position() + params.min_bits;
    write_unpadded<runs>(params, head, planes, out);
    if (out.position() < end) out.put_zeros(end - out.position());
  }

  /// `exponent`: the block's common exponent, or no_exponent.
  template <class Reader>
  CUSZI_HD static ZfpHead read_head(const ZfpParams& params, Reader& in, int& exponent) {
    ZfpHead head;
    exponent = no_exponent;
    unsigned planes = params.max_precision;
    const std::uint64_t window = in.peek();
    unsigned at = 0;
    const auto next = [&](int bits) {
      const std::uint64_t value = (window >> at) & low_bits(static_cast<unsigned>(bits));
      at += static_cast<unsigned>(bits);
      return static_cast<int>(value);
    };
    if constexpr (Type::is_float) {
      if (next(1) == 0) {
        in.skip(1);
        return head;
      }
      const bool has_exponent = !params.is_reversible() || next(1) == 0;
      if (has_exponent) exponent = next(Type::exponent_bits) - Type::exponent_bias;
      if (!params.is_reversible()) planes = precision_at(params, exponent);
    }
    if (params.is_reversible()) planes = static_cast<unsigned>(next(Type::precision_bits)) + 1;
    in.skip(at);
    set_planes(head, planes);
    return head;
  }

  template <ZfpRuns runs = ZfpRuns::one_by_one, class Words, class Reader>
  CUSZI_HD static ZfpHead read(const ZfpParams& params, Reader& in, int& exponent, Words& planes) {
    const BitCount start = in.position();
    const ZfpHead head = read_head(params, in, exponent);
    if (head.planes > 0) {
      if constexpr (!std::is_same_v<Words, NoPlanes>) {
        for_each_of<Layout::words>([&](int i) { planes[i] = 0; });
      }
      ZfpPlaneReader<T, rank, runs, Words, Reader>(planes, in)
          .read(head.first_plane, start + params.max_bits);
    }
    if (in.position() < start + params.min_bits) in.go_to(start + params.min_bits);
    return head;
  }

  template <ZfpRuns runs = ZfpRuns::one_by_one, class Reader>
  CUSZI_HD static void pass(const ZfpParams& params, Reader& in) {
    int exponent = 0;
    NoPlanes none;
    read<runs>(params, in, exponent, none);
  }

  /// Restores a block; overwrites `planes`.
  CUSZI_HD static void from_planes(const ZfpParams& params, const ZfpHead& head, int exponent,
                                   Word* planes, T* block) {
    if (head.planes == 0) {
      for_each_of<values>([&](int i) { block[i] = 0; });
      return;
    }
    Int fixed[values];
    transform_back(params, planes, fixed);
    if constexpr (Type::is_float) {
      if (exponent == no_exponent) {
        to_bit_patterns(fixed, block);
      } else if (exponent == -Type::exponent_bias && params.is_reversible()) {
        for_each_of<values>([&](int i) { block[i] = 0; });
      } else {
        zfp::from_fixed_point<T, values>(fixed, exponent, block);
      }
    } else {
      for_each_of<values>([&](int i) { block[i] = fixed[i]; });
    }
  }

 private:
  static constexpr int no_exponent = 1 << 20;

  CUSZI_HD static void set_planes(ZfpHead& head, unsigned planes) {
    constexpr unsigned most = Type::bits;
    head.planes = static_cast<int>(planes < most ? planes : most);
    head.first_plane = Type::bits - head.planes;
  }

  CUSZI_HD static std::uint64_t biased(int exponent) {
    const int field = exponent + Type::exponent_bias;
    return static_cast<std::uint64_t>(field);
  }

  CUSZI_HD static unsigned precision_at(const ZfpParams& params, int exponent) {
    const int planes = exponent - params.min_exponent + 2 * rank + 2;
    const unsigned needed = planes > 0 ? static_cast<unsigned>(planes) : 0;
    return needed < params.max_precision ? needed : params.max_precision;
  }

  /// Stores coefficients in coding order as words to transpose. Returns the OR of all.
  CUSZI_HD static UInt to_words(const Int* fixed, Word* words) {
    UInt ones = 0;
    for_each_of<Layout::words>([&](int i) { words[i] = 0; });
    for_each_of<values>([&](int i) {
      const UInt coefficient =
          (static_cast<UInt>(fixed[zfp_place<rank>(i)]) + Type::negabinary) ^ Type::negabinary;
      ones |= coefficient;
      words[Layout::word_of(i)] |= static_cast<Word>(coefficient) << Layout::shift_of(i);
    });
    return ones;
  }

  CUSZI_HD static void from_words(Word* planes, Int* fixed) {
    Layout::transpose(planes);
    for_each_of<values>([&](int i) {
      const auto coefficient = static_cast<UInt>(planes[Layout::word_of(i)] >> Layout::shift_of(i));
      fixed[zfp_place<rank>(i)] =
          static_cast<Int>((coefficient ^ Type::negabinary) - Type::negabinary);
    });
  }

  CUSZI_HD static void transform_back(const ZfpParams& params, Word* planes, Int* fixed) {
#if !defined(__CUDA_ARCH__)  // would diverge within a warp
    if (are_alike(planes, fixed)) return;
#endif
    from_words(planes, fixed);
    if (params.is_reversible()) {
      zfp::undo_transform<zfp::Differences, rank>(fixed);
    } else {
      zfp::undo_transform<zfp::Lifting, rank>(fixed);
    }
  }

  /// True if only the first coefficient is nonzero: both inverse transforms then set all values to
  /// it.
  CUSZI_HD static bool are_alike(const Word* planes, Int* fixed) {
    UInt first = 0;
    for (int plane = Type::bits; plane-- > 0;) {
      const std::uint64_t ones = Layout::get(planes, plane);
      if (ones > 1) return false;
      for (int piece = 1; piece < Layout::pieces; ++piece) {
        if (Layout::get(planes, plane, piece) != 0) return false;
      }
      first = static_cast<UInt>(first << 1 | ones);
    }
    const auto value = static_cast<Int>((first ^ Type::negabinary) - Type::negabinary);
    for_each_of<values>([&](int i) { fixed[i] = value; });
    return true;
  }

  template <class See>
  CUSZI_HD static ZfpHead to_planes_lossily(const ZfpParams& params, const T* block, Word* planes,
                                            const See& see) {
    ZfpHead head;
    Int fixed[values];
    int exponent = 0;
    if constexpr (Type::is_float) {
      const zfp::BlockExponent common = zfp::block_exponent<T, values>(block);
      exponent = common.exponent;
      const unsigned precision = precision_at(params, exponent);
      if (precision == 0 || exponent == -Type::exponent_bias) {
        head.put(0, 1);
        show_zeros(see);
        return head;
      }
      head.put(1 | biased(exponent) << 1, 1 + Type::exponent_bits);
      set_planes(head, precision);
      zfp::to_fixed_point<T, values>(block, common, fixed);
    } else {
      set_planes(head, params.max_precision);
      for_each_of<values>([&](int i) { fixed[i] = block[i]; });
    }
    zfp::transform<zfp::Lifting, rank>(fixed);
    show(fixed, head.first_plane, exponent, see);
    const UInt ones = to_words(fixed, planes);
    head.end_plane = significant_bits(ones);
    Layout::transpose(planes);
    return head;
  }

  template <class See>
  CUSZI_HD static void show_zeros(const See& see) {
    if constexpr (!std::is_same_v<See, NobodySees>) {
      T restored[values];
      for_each_of<values>([&](int i) { restored[i] = 0; });
      see(restored);
    }
  }

  template <class See>
  CUSZI_HD static void show(const Int* coefficients, int first_plane, int exponent,
                            const See& see) {
    if constexpr (!std::is_same_v<See, NobodySees>) {
      const UInt coded = ~UInt{0} << first_plane;
      Int fixed[values];
      for_each_of<values>([&](int i) {
        const UInt coefficient =
            (static_cast<UInt>(coefficients[i]) + Type::negabinary) ^ Type::negabinary;
        fixed[i] = static_cast<Int>(((coefficient & coded) ^ Type::negabinary) - Type::negabinary);
      });
      zfp::undo_transform<zfp::Lifting, rank>(fixed);
      T restored[values];
      zfp::from_fixed_point<T, values>(fixed, exponent, restored);
      see(restored);
    }
  }

  CUSZI_HD static ZfpHead to_planes_reversibly(const ZfpParams& params, const T* block,
                                               Word* planes) {
    ZfpHead head;
    Int fixed[values];
    if constexpr (Type::is_float) {
      const zfp::BlockExponent common = zfp::block_exponent<T, values>(block);
      if (is_exact(block, common, fixed)) {
        const bool is_zero = common.exponent == -Type::exponent_bias;
        head.put(is_zero ? 0 : 1, is_zero ? 1 : 2);
        if (is_zero) return head;
        head.put(biased(common.exponent), Type::exponent_bits);
      } else {
        from_bit_patterns(block, fixed);
        head.put(3, 2);
      }
    } else {
      for_each_of<values>([&](int i) { fixed[i] = block[i]; });
    }
    zfp::transform<zfp::Differences, rank>(fixed);
    const UInt ones = to_words(fixed, planes);
    head.end_plane = significant_bits(ones);
    const int significant = ones == 0 ? 1 : Type::bits - static_cast<int>(trailing_zeros(ones));
    set_planes(head, static_cast<unsigned>(significant) < params.max_precision
                         ? static_cast<unsigned>(significant)
                         : params.max_precision);
    head.put(static_cast<std::uint64_t>(head.planes - 1), Type::precision_bits);
    Layout::transpose(planes);
    return head;
  }

  /// Converts to fixed point. Returns whether that is lossless.
  CUSZI_HD static bool is_exact(const T* block, zfp::BlockExponent common, Int* fixed) {
    bool exact = true;
    if (common.exponent == -Type::exponent_bias) {
      for_each_of<values>([&](int i) {
        fixed[i] = 0;
        exact = exact && std::bit_cast<UInt>(block[i]) == 0;
      });
      return exact;
    }
    zfp::to_fixed_point<T, values>(block, common, fixed);
    T restored[values];
    zfp::from_fixed_point<T, values>(fixed, common.exponent, restored);
    for_each_of<values>([&](int i) {
      exact = exact && std::bit_cast<UInt>(restored[i]) == std::bit_cast<UInt>(block[i]);
    });
    return exact;
  }

  /// Float bit patterns to ordered integers and back: negative ones have all bits but the sign
  /// inverted.
  CUSZI_HD static Int reordered(Int pattern) {
    constexpr UInt all_but_sign = ~UInt{0} >> 1;
    return pattern < 0 ? static_cast<Int>(static_cast<UInt>(pattern) ^ all_but_sign) : pattern;
  }
  CUSZI_HD static void from_bit_patterns(const T* block, Int* fixed) {
    for_each_of<values>([&](int i) { fixed[i] = reordered(std::bit_cast<Int>(block[i])); });
  }
  CUSZI_HD static void to_bit_patterns(const Int* fixed, T* block) {
    for_each_of<values>([&](int i) { block[i] = std::bit_cast<T>(reordered(fixed[i])); });
  }
};

}  // namespace cuszi
