#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/property/zfp_case.hpp"
#include "tests/property/zfp_checksums.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

/// Jenkins' one-at-a-time hash, of words of 32 bits.
class ZfpWordHash {
 public:
  void add(std::uint32_t word) {
    hash_ += word;
    hash_ += hash_ << 10;
    hash_ ^= hash_ >> 6;
  }
  std::uint64_t result() const {
    std::uint32_t hash = hash_ + (hash_ << 3);
    hash ^= hash >> 11;
    return hash + (hash << 15);
  }

 private:
  std::uint32_t hash_ = 0;
};

/// The checksum of values or of a stream's words: of 64 bits, the halves are hashed apart.
template <class T>
std::uint64_t zfp_checksum(const std::vector<T>& values) {
  using UInt = typename ZfpType<T>::UInt;
  ZfpWordHash low;
  ZfpWordHash high;
  for (const T value : values) {
    const std::uint64_t word = std::bit_cast<UInt>(value);
    low.add(static_cast<std::uint32_t>(word));
    high.add(static_cast<std::uint32_t>(word >> 32));
  }
  return low.result() | (sizeof(T) == 8 ? high.result() << 32 : 0);
}

inline std::uint64_t zfp_checksum(const std::vector<std::byte>& stream) {
  std::vector<std::int64_t> words(stream.size() / 8);
  std::memcpy(words.data(), stream.data(), 8 * words.size());
  return zfp_checksum(words);
}

/// The numbers that blocks are made of: 31 or 63 bits of a linear congruential generator.
template <class T>
class ZfpBlockNumbers {
 public:
  T next() {
    const std::int64_t number = advance();
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(number - (std::int64_t{1} << (bits - 2)));
    } else {
      constexpr int mantissa = sizeof(T) == 4 ? 24 : 53;
      constexpr int spare = sizeof(T) == 4 ? bits - 1 - mantissa : 11;
      const std::int64_t centred = (number >> spare) - (std::int64_t{1} << (mantissa - 1));
      return std::ldexp(static_cast<T>(centred), -mantissa / 2);
    }
  }

 private:
  static constexpr int bits = ZfpType<T>::bits;

  std::int64_t advance() {
    if constexpr (bits == 32) {
      state_ = (0x5DEECE66D * state_ + 11) % (std::uint64_t{1} << 48);
      return static_cast<std::int64_t>(state_ >> 16 & 0x7FFFFFFF);
    } else {
      state_ = 2862933555777941757U * state_ + 3037000493U;
      return static_cast<std::int64_t>(state_ << 1 >> 1);
    }
  }

  std::uint64_t state_ = 5;
};

/// Smooth fields: a coarse wave, refined until it is large enough. A point between others is what a
/// cubic has there, its weights a little disturbed, and less so on every finer lattice.
class ZfpSmoothField {
 public:
  /// At least `least` values in [-amplitude, amplitude], the same number along all axes.
  ZfpSmoothField(int rank, std::uint64_t least, std::int64_t amplitude)
      : rank_(rank), amplitude_(amplitude) {
    start();
    while (values_.size() < least) {
      refine();
      disturbance_ = times(disturbance_, 0xAAAAAAAA);
    }
  }

  const std::vector<std::int64_t>& values() const { return values_; }
  std::uint64_t side() const { return side_; }

 private:
  __extension__ using Wide = __int128;
  static constexpr Wide one = Wide{1} << 32;  ///< weights have 32 bits behind the point

  static Wide times(Wide a, Wide b) { return (a * b) >> 32; }

  static std::uint64_t power(std::uint64_t base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
  }

  /// A period of a wave along each axis, in five points.
  void start() {
    constexpr int wave[] = {0, 1, 0, -1, 0};
    values_.resize(power(side_, rank_));
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      values_[i] = amplitude_;
      for (int axis = 0; axis < rank_; ++axis) values_[i] *= wave[i / power(side_, axis) % side_];
    }
  }

  /// Puts points between all neighbours.
  void refine() {
    coarse_ = std::move(values_);
    coarse_side_ = side_;
    side_ = 2 * side_ - 1;
    values_.resize(power(side_, rank_));
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      bool is_new = false;
      for (int axis = 0; axis < rank_; ++axis) is_new |= i / power(side_, axis) % side_ % 2 == 1;
      if (is_new) draw_weights();
      values_[i] = reflected(static_cast<std::int64_t>((sum_around(i, 0, 0, one) + one / 2) >> 32));
    }
  }

  void draw_weights() {
    const auto near = [&](int sixteenths) {
      state_ = 2862933555777941757U * state_ + 3037000493U;
      const Wide drawn = static_cast<std::uint32_t>(state_ >> 31);
      return times(times(drawn - one / 2, disturbance_) + sixteenths * one, one / 16);
    };
    weights_[0] = near(-1);
    weights_[1] = near(9);
    weights_[2] = near(9);
    weights_[3] = one - weights_[0] - weights_[1] - weights_[2];
  }

  /// The weighted sum of the coarse points around a new one: `rest` has its place along the axes
  /// from `axis` on, `at` is the coarse point's along those before. Beyond the field is zero.
  Wide sum_around(std::uint64_t rest, int axis, std::uint64_t at, Wide weight) const {
    if (axis == rank_) return coarse_[at] * weight;
    const std::uint64_t stride = power(coarse_side_, axis);
    const std::uint64_t before = rest % side_ / 2;
    if (rest % side_ % 2 == 0) {
      return sum_around(rest / side_, axis + 1, at + before * stride, weight);
    }
    Wide sum = 0;
    for (std::uint64_t tap = 0; tap < 4; ++tap) {
      const std::uint64_t point = before + tap - 1;  // huge where it is before the field
      if (point >= coarse_side_) continue;
      sum += sum_around(rest / side_, axis + 1, at + point * stride, times(weight, weights_[tap]));
    }
    return sum;
  }

  /// What leaves the range comes back into it.
  std::int64_t reflected(std::int64_t value) const {
    if (value > amplitude_) return 2 * amplitude_ - value;
    return value < -amplitude_ ? -2 * amplitude_ - value : value;
  }

  int rank_;
  std::int64_t amplitude_;
  std::uint64_t side_ = 5;
  std::vector<std::int64_t> values_;
  std::uint64_t coarse_side_ = 0;
  std::vector<std::int64_t> coarse_;
  Wide disturbance_ = 7 * one;
  Wide weights_[4] = {};
  std::uint64_t state_ = 5;
};

/// What a codec makes of a case.
template <class T>
struct ZfpCoded {
  std::vector<std::byte> stream;
  std::vector<T> restored;
};

/// Goes through what zfp's tests have checksums of, for a rank and a type: a block, whole and in
/// part, blocks with special values and a smooth field in several modes.
template <class T, class Code>
class ZfpPublished {
 public:
  /// code(given) is the codec: it returns ZfpCoded<T>.
  ZfpPublished(const ZfpChecksums& checksums, const Code& code)
      : rank_(checksums.rank), next_(checksums.numbers.data()), code_(code) {}

  void check_all() {
    const std::uint64_t* const first = next_;
    check_blocks();
    check_field();
    REQUIRE(next_ - first == (Type::is_float ? ZfpChecksums::most : ZfpChecksums::most_integer));
  }

  void check_blocks() {
    constexpr unsigned block_rate = 19;
    std::vector<T> numbers(static_cast<std::size_t>(zfp_block_values(rank_)));
    ZfpBlockNumbers<T> generator;
    for (T& number : numbers) number = generator.next();
    require(zfp_checksum(numbers), "the numbers of a block");
    const ZfpCoded<T> whole = code_(block_of(numbers, rate(block_rate)));
    require(zfp_checksum(whole.stream), "the stream of a block");
    if constexpr (Type::is_float) check_special_blocks();

    const ZfpCase<T> part = part_of(numbers, rate(block_rate));
    ZfpCoded<T> coded = code_(part);
    require(zfp_checksum(coded.stream), "the stream of a part of a block");
    require(zfp_checksum(whole.restored), "the values of a block");
    std::size_t next = 0;  // what is no part of it stays zero
    for_part(
        [&](std::size_t at, bool inside) { numbers[at] = inside ? coded.restored[next++] : T{0}; });
    require(zfp_checksum(numbers), "the values of a part of a block");
  }

 private:
  using Type = ZfpType<T>;

  ZfpParams rate(unsigned bits) const { return ZfpParams::rate(bits, rank_, Type::exponent_bits); }

  ZfpCase<T> block_of(std::vector<T> values, const ZfpParams& params) const {
    return {cube(4), params, "block", std::move(values)};
  }

  Dims cube(std::uint64_t side) const {
    const std::uint64_t extents[] = {side, side, side, side};
    return *Dims::make(std::span(extents, static_cast<std::size_t>(rank_)));
  }

  void require(std::uint64_t checksum, const char* what) {
    INFO("rank " << rank_ << ", " << sizeof(T) << " bytes, " << what);
    REQUIRE(checksum == *next_++);
  }

  /// Calls f(at, inside) for the places of a block: the part of it is 1 x 2 x 3 x 4, fastest first.
  template <class F>
  void for_part(const F& f) const {
    for (std::size_t at = 0; at < static_cast<std::size_t>(zfp_block_values(rank_)); ++at) {
      bool inside = true;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis) {
        inside = inside && (at >> (2 * axis) & 3) < axis + 1;
      }
      f(at, inside);
    }
  }

  ZfpCase<T> part_of(const std::vector<T>& block, const ZfpParams& params) const {
    std::vector<std::uint64_t> extents;
    for (int axis = rank_; axis > 0; --axis) extents.push_back(static_cast<std::uint64_t>(axis));
    ZfpCase<T> part{*Dims::make(extents), params, "part", {}};
    for_part([&](std::size_t at, bool inside) {
      if (inside) part.values.push_back(block[at]);
    });
    return part;
  }

  /// Every fourth value is a zero, the least or greatest number, an infinity, a NaN; others are 0.
  void check_special_blocks() {
    using UInt = typename Type::UInt;
    constexpr UInt sign = UInt{1} << (Type::bits - 1);
    constexpr int mantissa_bits = Type::bits - 1 - Type::exponent_bits;
    constexpr UInt infinity = sign - (UInt{1} << mantissa_bits);
    constexpr UInt quiet = UInt{1} << (mantissa_bits - 1);
    for (const UInt special : {UInt{0}, sign, UInt{1}, sign + 1, infinity - 1, sign + infinity - 1,
                               infinity, sign + infinity, infinity + quiet, infinity + quiet / 2}) {
      std::vector<T> values(static_cast<std::size_t>(zfp_block_values(rank_)));
      for (std::size_t i = 0; i < values.size(); i += 4) {
        std::memcpy(&values[i], &special, sizeof special);
      }
      check_reversible(block_of(std::move(values), ZfpParams::reversible()), "a special block");
    }
  }

  void check_reversible(const ZfpCase<T>& given, const char* what) {
    const ZfpCoded<T> coded = code_(given);
    require(zfp_checksum(coded.stream), what);
    REQUIRE(std::memcmp(coded.restored.data(), given.values.data(),
                        given.values.size() * sizeof(T)) == 0);
  }

  ZfpCase<T> smooth_field() const {
    constexpr int amplitude_bits =
        Type::is_float ? Type::bits - 1 - Type::exponent_bits : Type::bits - 2;
    const ZfpSmoothField field(rank_, Type::is_float ? 1000000 : 4096,
                               (std::int64_t{1} << amplitude_bits) - 1);
    ZfpCase<T> made{cube(field.side()), {}, "smooth field", {}};
    for (const std::int64_t value : field.values()) {
      if constexpr (Type::is_float) {
        made.values.push_back(std::ldexp(static_cast<T>(value), -((amplitude_bits + 1) / 2)));
      } else {
        made.values.push_back(static_cast<T>(value));
      }
    }
    return made;
  }

  void check_field() {
    ZfpCase<T> field = smooth_field();
    require(zfp_checksum(field.values), "the smooth field");
    const auto check_mode = [&](const ZfpParams& params) {
      field.params = params;
      const ZfpCoded<T> coded = code_(field);
      require(zfp_checksum(coded.stream), "the smooth field's stream");
      require(zfp_checksum(coded.restored), "the smooth field's values");
    };
    for (const unsigned planes : {8U, 16U, 32U}) check_mode(ZfpParams::precision(planes));
    for (const unsigned bits : {8U, 16U, 32U}) check_mode(rate(bits));
    if constexpr (Type::is_float) {
      for (const double tolerance : {0x1p-1, 0x1p-2, 0x1p-4}) {
        check_mode(ZfpParams::accuracy(tolerance));
      }
    }
    field.params = ZfpParams::reversible();
    check_reversible(field, "the smooth field's reversible stream");
  }

  int rank_;
  const std::uint64_t* next_;
  const Code& code_;
};

template <class T>
constexpr ZfpScalar zfp_scalar() {
  if constexpr (std::is_integral_v<T>) return sizeof(T) == 4 ? ZfpScalar::i32 : ZfpScalar::i64;
  return sizeof(T) == 4 ? ZfpScalar::f32 : ZfpScalar::f64;
}

/// Requires of a codec what zfp's tests have checksums of, for a type: of blocks, and of the smooth
/// field if asked. code(given) returns ZfpCoded<T>.
template <class T, bool with_field, class Code>
void check_published_zfp(const Code& code) {
  for (const ZfpChecksums& checksums : zfp_checksums) {
    if (checksums.scalar != zfp_scalar<T>()) continue;
    ZfpPublished<T, Code> published(checksums, code);
    if constexpr (with_field) {
      published.check_all();
    } else {
      published.check_blocks();
    }
  }
}

}  // namespace cuszi::test
