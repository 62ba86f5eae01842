#include "core/field/mask.hpp"

#include <bit>
#include <limits>

#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// The mask of the points for which missing(point) is true, their values made by value(point).
template <class Missing, class Value>
Mask make_mask(const Dims& dims, DType dtype, const Missing& missing, const Value& value) {
  Mask mask;
  mask.words.resize(ceil_div(dims.count(), 64));
  for (std::uint64_t point = 0; point < dims.count(); ++point) {
    if (!missing(point)) continue;
    mask.words[point / 64] |= std::uint64_t{1} << (point % 64);
    ++mask.count;
    const std::uint64_t bits = value(point);
    const Bytes bytes = std::as_bytes(std::span(&bits, 1)).first(size_of(dtype));
    mask.values.insert(mask.values.end(), bytes.begin(), bytes.end());
  }
  return mask;
}

EncodedMask encode(const Mask& mask, const Dims& dims, DType dtype) {
  return encode_mask(compact(mask, dims, dtype), dtype, one_by_one);
}
Mask decode(const EncodedMask& encoded, const Dims& dims, DType dtype, std::uint64_t count) {
  return expand(decode_mask(encoded, dims.count(), dtype, count, one_by_one), dims, dtype);
}

void check_round_trip(const Mask& mask, const Dims& dims, DType dtype) {
  INFO(dims.to_string() << ' ' << name_of(dtype) << ", " << mask.count << " missing");
  const Mask decoded = decode(encode(mask, dims, dtype), dims, dtype, mask.count);
  CHECK(decoded.count == mask.count);
  CHECK(decoded.words == mask.words);
  CHECK(decoded.values == mask.values);
}

/// An island of missing points that is the same in every slice.
Mask island(const Dims& dims) {
  const std::uint64_t nx = dims[2];
  const std::uint64_t ny = dims[1];
  const auto is_land = [&](std::uint64_t point) {
    const auto x = static_cast<std::int64_t>(point % nx) - static_cast<std::int64_t>(nx / 2);
    const auto y = static_cast<std::int64_t>(point / nx % ny) - static_cast<std::int64_t>(ny / 2);
    return x * x + 3 * y * y + (x * y * y) % 37 < 900;
  };
  return make_mask(dims, DType::f32, is_land, [](std::uint64_t) { return 0x7FC00000U; });
}

}  // namespace

TEST_CASE("masks come back for rows and slices of every size") {
  Random random(1);
  const Dims shapes[] = {{1},         {63},         {64},         {65},      {1000},
                         {7, 9},      {40, 31},     {5, 32},      {5, 33},   {9, 64},
                         {9, 65},     {5, 200},     {4, 3, 2},    {6, 5, 7}, {5, 8, 8},
                         {3, 64, 64}, {4, 11, 100}, {3, 5, 7, 9}, {20, 1},   {1, 1, 1, 1}};
  for (const Dims& dims : shapes) {
    for (const std::uint64_t one_in : {1U, 2U, 50U}) {
      const auto mask = make_mask(
          dims, DType::f64,
          [&](std::uint64_t point) { return point == 0 || random.one_in(one_in); },
          [&](std::uint64_t) { return random.below(3); });
      check_round_trip(mask, dims, DType::f64);
    }
  }
}

TEST_CASE("the values of missing points come back whatever their number of patterns") {
  const Dims dims{20, 50};
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint64_t patterns : {1U, 2U, 254U, 255U, 256U, 257U, 1000U}) {
      const auto mask = make_mask(
          dims, dtype, [](std::uint64_t) { return true; },
          [&](std::uint64_t point) { return 0x7F800000 + 0x10001 * (point % patterns); });
      check_round_trip(mask, dims, dtype);
    }
  }
}

TEST_CASE("a mask that repeats in every slice costs little more than one slice") {
  const Dims one_slice{1, 90, 120};
  const Dims many_slices{30, 90, 120};
  const auto bits = [](const Mask& mask, const Dims& dims) {
    return encode(mask, dims, DType::f32).bits.size();
  };
  const Mask many = island(many_slices);
  CHECK(many.count > 10'000);
  CHECK(bits(many, many_slices) < bits(island(one_slice), one_slice) + 40);
  CHECK(encode(many, many_slices, DType::f32).values.size() == 5);
}

TEST_CASE("a mask that does not hold what its frame says is refused") {
  const Dims dims{10, 10};
  const auto mask = make_mask(
      dims, DType::f32, [](std::uint64_t point) { return point % 3 == 0; },
      [](std::uint64_t point) { return point % 2; });
  const EncodedMask good = encode(mask, dims, DType::f32);
  const auto read = [&](const EncodedMask& encoded, std::uint64_t count) {
    return decode(encoded, dims, DType::f32, count);
  };
  REQUIRE_NOTHROW(read(good, mask.count));
  CHECK_THROWS_AS(read(good, mask.count - 1), ArchiveError);
  CHECK_THROWS_AS(read(good, mask.count + 1), ArchiveError);
  CHECK_THROWS_AS(read({{}, good.values}, mask.count), ArchiveError);
  CHECK_THROWS_AS(read({good.bits, {}}, mask.count), ArchiveError);
  EncodedMask small_palette = good;  // two patterns; the second is now beyond the palette
  small_palette.values = to_bytes({1, 0, 0, 0, 0, 1});
  CHECK_THROWS_AS(read(small_palette, mask.count), ArchiveError);
  CHECK_THROWS_AS(decode(good, Dims{10, 20}, DType::f32, mask.count), ArchiveError);
}

TEST_CASE("a damaged mask is refused or has the promised number of points") {
  const Dims dims{8, 9, 10};
  Random random(2);
  const auto mask = make_mask(
      dims, DType::f64, [&](std::uint64_t) { return random.one_in(4); },
      [&](std::uint64_t) { return random.below(300); });
  const EncodedMask good = encode(mask, dims, DType::f64);
  const auto check = [&](const EncodedMask& damaged) {
    try {
      const Mask decoded = decode(damaged, dims, DType::f64, mask.count);
      std::uint64_t ones = 0;
      for (const std::uint64_t word : decoded.words) {
        ones += static_cast<unsigned>(std::popcount(word));
      }
      CHECK(ones == mask.count);
      CHECK(decoded.values.size() == mask.values.size());
    } catch (const ArchiveError&) {
      SUCCEED("refused");
    }
  };
  for (std::size_t i = 0; i < good.bits.size() + good.values.size(); ++i) {
    EncodedMask damaged = good;
    (i < good.bits.size() ? damaged.bits[i] : damaged.values[i - good.bits.size()]) ^=
        static_cast<std::byte>(1 + random.below(255));
    check(damaged);
  }
}

TEST_CASE("what is missing") {
  FillValues fills;
  fills.add(1e20);
  fills.add(0);
  const MissingTest<float> missing(fills);
  CHECK(missing(std::numeric_limits<float>::quiet_NaN()));
  CHECK(missing(std::numeric_limits<float>::infinity()));
  CHECK(missing(-std::numeric_limits<float>::infinity()));
  CHECK(missing(1e20F));
  CHECK(missing(-0.0F));
  CHECK_FALSE(missing(1.0F));
  CHECK_FALSE(missing(std::numeric_limits<float>::max()));
  CHECK_FALSE(missing(std::numeric_limits<float>::denorm_min()));
  CHECK_FALSE(MissingTest<double>(FillValues{})(1e20));
  FillValues netcdf;
  netcdf.add(netcdf_fill_value);
  CHECK(MissingTest<float>(netcdf)(9.96921e36F));
  CHECK(MissingTest<double>(netcdf)(9.969209968386869e36));
}

TEST_CASE("there is a largest number of fill values") {
  FillValues fills;
  while (fills.count < FillValues::max_count) fills.add(1);
  CHECK_THROWS_AS(fills.add(100), UsageError);
}

}  // namespace cuszi::test
