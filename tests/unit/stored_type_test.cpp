#include "core/field/stored_type.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/field/value_grid.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// By the definition of the format, with powers and sums instead of bits.
double defined_value(std::uint32_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1));
  const double fraction = std::ldexp(bits & ((1U << fraction_bits) - 1), -fraction_bits);
  const double sign = (bits >> 15U) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, exponent - bias);
}

template <int exponent_bits>
void check_all_halves() {
  using H = Half<exponent_bits>;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const H half{static_cast<std::uint16_t>(bits)};
    const float value = half.value();
    const double defined = defined_value(bits, exponent_bits);
    INFO(bits);
    if (std::isnan(defined)) {
      REQUIRE(std::isnan(value));
    } else {
      REQUIRE(static_cast<double>(value) == defined);
      REQUIRE(std::signbit(value) == std::signbit(defined));
    }
    REQUIRE(H::nearest(value).bits == bits);
  }
}

/// By trying both neighbours.
template <int exponent_bits>
void check_rounding(float value) {
  using H = Half<exponent_bits>;
  const std::uint16_t found = H::nearest(value).bits;
  const auto distance = [&](int bits) {
    return std::fabs(defined_value(static_cast<std::uint32_t>(bits), exponent_bits) -
                     static_cast<double>(value));
  };
  INFO(value << " became " << found);
  REQUIRE((found & 0x7FFFU) < H::infinity);
  REQUIRE((found >> 15U != 0) == std::signbit(value));
  if ((found & 0x7FFFU) == H::infinity - 1) return;  // may be saturated
  for (const int other : {found - 1, found + 1}) {
    if ((other & 0x7FFF) >= static_cast<int>(H::infinity) || (other ^ found) >> 15 != 0) continue;
    REQUIRE(distance(found) <= distance(other));
    if (distance(found) == distance(other)) REQUIRE(found % 2 == 0);
  }
}

template <class S>
void check_integers(DType dtype) {
  const auto least = static_cast<double>(std::numeric_limits<S>::min());
  const auto most = static_cast<double>(std::numeric_limits<S>::max());
  const std::vector<double> work{least,      most,       least - 1,   most + 1, -1e30, 1e30,
                                 0.5,        1.5,        2.5,         0.49,     0.51,  least + 0.5,
                                 most - 0.5, most - 1.5, least + 1.5, 0};
  const auto clamped = [&](double value) { return static_cast<S>(std::clamp(value, least, most)); };
  std::vector<S> expected;
  for (const double value : work) expected.push_back(clamped(std::nearbyint(value)));
  std::vector<S> made(work.size());
  const MutableBytes out = std::as_writable_bytes(std::span(made));
  if (work_of(dtype) == DType::f32) {
    const std::vector<float> narrow(work.begin(), work.end());
    from_work(dtype, bytes_of(narrow), out);
  } else {
    from_work(dtype, bytes_of(work), out);
  }
  CHECK(made == expected);
}

/// 64-bit integers stay within the bound and are multiples of the step, or as they were.
template <class I>
void check_quantised(DType dtype, std::uint64_t bound, const std::vector<I>& values,
                     const FillValues& fills) {
  std::vector<I> moved = values;
  quantise_wide(dtype, static_cast<double>(bound), fills, std::as_writable_bytes(std::span(moved)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto a = static_cast<std::uint64_t>(values[i]);
    const auto b = static_cast<std::uint64_t>(moved[i]);
    INFO(values[i] << " became " << moved[i] << " under " << bound);
    REQUIRE((values[i] > moved[i] ? a - b : b - a) <= bound);
    const std::uint64_t magnitude = moved[i] < 0 ? 0 - b : b;
    REQUIRE((moved[i] == values[i] || magnitude % (2 * bound + 1) == 0));
  }
}

template <class I>
std::vector<I> wide_values() {
  Random random(7);
  using Limits = std::numeric_limits<I>;
  std::vector<I> values{0, 1, Limits::max(), Limits::min(), Limits::max() - 1, Limits::min() + 1};
  for (int i = 0; i < 2000; ++i)
    values.push_back(static_cast<I>(random.next() >> random.below(64)));
  return values;
}

}  // namespace

TEST_CASE("all halves go to floats and back by their definition") {
  check_all_halves<5>();
  check_all_halves<8>();
}

TEST_CASE("floats go to the nearest half, ties to even, and stay finite", "[unsanitized]") {
  Random random(3);
  for (int i = 0; i < 200'000; ++i) {
    const auto any = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (!std::isfinite(any)) continue;
    check_rounding<5>(any);
    check_rounding<8>(any);
    const Float16 half{static_cast<std::uint16_t>(random.below(0x7BFF))};
    const Float16 next{static_cast<std::uint16_t>(half.bits + 1)};
    const float tie = (half.value() + next.value()) / 2;
    for (const float near : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 1e9F)}) {
      check_rounding<5>(near);
      check_rounding<5>(-near);
    }
  }
  CHECK(Float16::nearest(1e30F).value() == 65504);
  CHECK(Float16::nearest(65519.996F).value() == 65504);
  CHECK(BFloat16::nearest(-3.4e38F).bits == 0xFF7F);
}

TEST_CASE("integers are rounded to even and saturate") {
  check_integers<std::int8_t>(DType::i8);
  check_integers<std::uint8_t>(DType::u8);
  check_integers<std::int16_t>(DType::i16);
  check_integers<std::uint16_t>(DType::u16);
  check_integers<std::int32_t>(DType::i32);
  check_integers<std::uint32_t>(DType::u32);
}

TEST_CASE("a work bound of integers leads back within theirs") {
  CHECK(work_bound(DType::u8, 0.99) == std::nextafter(0.5, 0.0));
  CHECK(work_bound(DType::u8, 1.0) == std::nextafter(1.5, 0.0));
  CHECK(work_bound(DType::i32, 1000.7) == std::nextafter(1000.5, 0.0));
  CHECK(stored_bound(DType::i16, 3.9).bound == 3);
  CHECK(stored_bound(DType::f16, 3.9).bound == 3.9);
}

TEST_CASE("a work bound of halves is the least distance to what rounds out of the bound") {
  const auto bound_of_one = [](double bound, float value) {
    const std::vector<Float16> values{Float16::nearest(value)};
    DistinctValues distinct;
    distinct.add(DType::f16, bytes_of(values));
    return work_bound(DType::f16, ValueBound(bound), [&] { return distinct; }).bound;
  };
  // 1 has a next value 2^-10 above and one 2^-11 below.
  const double half_step = bound_of_one(0x1p-11, 1);
  CHECK(half_step < 0x1p-11);
  CHECK(half_step > 0x1.fffp-12);
  // Next to the largest value, whatever is larger saturates.
  CHECK(bound_of_one(40, 65504) > 40);
}

TEST_CASE("rules of stored values are halfway values of work values") {
  ValueRules rules;
  rules.fills.add(-5);
  rules.isovalues.add(7);
  const ValueRules work = work_rules(DType::i16, rules);
  REQUIRE(work.isovalues.count == 4);
  CHECK(work.isovalues.values[0] == -5.5);
  CHECK(work.isovalues.values[1] == -4.5);
  CHECK(work.isovalues.values[2] == 6.5);
  CHECK(work.isovalues.values[3] == 7.5);
  rules.isovalues.add(255);
  CHECK(work_rules(DType::u8, rules).isovalues.count == 4);  // 0 stands for -5
}

TEST_CASE("64-bit integers are quantised in integers") {
  FillValues fills;
  fills.add(0x1p62);
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{12345},
                                    std::uint64_t{1} << 40U, std::uint64_t{1} << 62U}) {
    check_quantised(DType::i64, bound, wide_values<std::int64_t>(), {});
    check_quantised(DType::u64, bound, wide_values<std::uint64_t>(), {});
    check_quantised(DType::i64, bound, wide_values<std::int64_t>(), fills);
  }
  std::vector<std::int64_t> near{(std::int64_t{1} << 62) + 1, std::int64_t{1} << 62};
  quantise_wide(DType::i64, 1, fills, std::as_writable_bytes(std::span(near)));
  CHECK(near.back() == std::int64_t{1} << 62);
  CHECK(near.front() != near.back());
}

TEST_CASE("fill values of 64-bit integers need no exact double") {
  constexpr std::int64_t fill = -9223372036854775806;  // NetCDF's
  FillValues fills;
  fills.add(static_cast<double>(fill));
  std::vector<std::int64_t> values{fill, fill + 2, fill + 2000, 7};
  const std::vector<std::int64_t> before = values;
  quantise_wide(DType::i64, 1000, fills, std::as_writable_bytes(std::span(values)));
  CHECK(values[0] == before[0]);
  CHECK(values[1] == before[1]);  // rounds to the same double
  CHECK(values[2] != before[2]);
  CHECK(static_cast<double>(values[2]) != fills.values[0]);
  CHECK(values[3] == 0);
}

TEST_CASE("values of a type are told from others") {
  CHECK(is_stored_value(DType::i64, -0x1p63));
  CHECK(is_stored_value(DType::i64, 0x1p63));  // the largest one's double
  CHECK_FALSE(is_stored_value(DType::i64, 0x1.0000000000001p63));
  CHECK(is_stored_value(DType::u64, 0x1p63));
  CHECK(is_stored_value(DType::u64, 0x1p64));
  CHECK_FALSE(is_stored_value(DType::u32, 0x1p32));
  CHECK_FALSE(is_stored_value(DType::u8, -1));
  CHECK_FALSE(is_stored_value(DType::i16, 0.5));
  CHECK_FALSE(is_stored_value(DType::i16, std::numeric_limits<double>::quiet_NaN()));
  CHECK(is_stored_value(DType::f16, 1e30));
}

namespace {

/// All values of a type of at most 16 bits that are finite.
template <class S>
std::vector<S> all_values() {
  std::vector<S> values;
  for (std::uint32_t bits = 0; bits < 1U << (8 * sizeof(S)); ++bits) {
    const auto value = std::bit_cast<S>(static_cast<StoredBits<S>>(bits));
    if (std::isfinite(converted_to<float>(value))) values.push_back(value);
  }
  return values;
}

/// Every value moves to the grid within the bound. What differs from that by less than half a step
/// moves to it again, unless it is an end of the type's range.
template <class S>
void check_grid(DType dtype, double bound) {
  const ValueGrid grid = ValueGrid::of(dtype, bound);
  const std::vector<S> values = all_values<S>();
  std::vector<S> moved = values;
  grid.move<S>(moved, {});
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(name_of(dtype) << ' ' << bound << ' ' << converted_to<double>(values[i]));
    const auto place = converted_to<double>(moved[i]);
    REQUIRE(std::fabs(place - converted_to<double>(values[i])) <= bound);
    if (is_integer(dtype) && std::fmod(place, grid.step) != 0) continue;
    for (const double side : {-0.5, 0.5}) {
      const auto near = converted_to<S>(static_cast<WorkOf<S>>(place + side * grid.step));
      if (std::fabs(converted_to<double>(near) - place) >= grid.step / 2) continue;
      S again[] = {near};
      grid.move<S>(again, {});
      REQUIRE(std::bit_cast<StoredBits<S>>(again[0]) == std::bit_cast<StoredBits<S>>(moved[i]));
    }
  }
}

}  // namespace

TEST_CASE("grids of narrow types keep the bound and their values", "[unsanitized]") {
  Random random(9);
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::i8, DType::u8, DType::i16, DType::u16}) {
    const double most = is_integer(dtype) ? nearest_stored(dtype, 1e30) : 1000;
    for (int i = 0; i < 8; ++i) {
      const double bound = most * std::pow(2, -16 * random.uniform());
      with_stored_type_of(dtype, [&](auto zero) {
        if constexpr (sizeof zero <= 2) check_grid<decltype(zero)>(dtype, bound);
      });
    }
  }
}

}  // namespace cuszi::test
