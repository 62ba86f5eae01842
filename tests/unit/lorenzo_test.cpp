#include "cpu_ref/lorenzo/lorenzo.hpp"

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/lorenzo/lorenzo_rounding.hpp"
#include "cpu_ref/field/scan.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

struct Encoded {
  std::vector<QuantCode> codes;
  std::vector<SparseEntry> outliers;
  std::vector<SparseEntry> patches;
};

/// The codes of a field whose values are whole multiples of the step, 1.
template <class T>
Encoded encode(const LorenzoParams& params, double bound, const Extents3& extents,
               const std::vector<T>& values) {
  const FillValues no_fills;
  const FieldScan scan =
      cpu::scan_frame<T>(extents, values, no_fills, LorenzoParams::draft({}, extents));
  const Mask mask = cpu::build_mask<T>(values, values, no_fills, scan.missing);
  const cpu::FrameInput<T> frame{extents, values, mask, scan.min, scan.max};
  Encoded result;
  result.codes.resize(values.size());
  cpu::Predicted<T> predicted{result.codes, {}, {}, {}};
  cpu::predict_quantise(params, bound, frame, predicted);
  result.outliers = predicted.outliers;
  result.patches = predicted.patches;
  return result;
}

/// The sum of Lorenzo's formula over the corners of the cube behind a point, by its definition.
double lorenzo_error(const LorenzoParams& params, const Extents3& extents,
                     const std::vector<double>& field, const Extents3& at) {
  const auto value = [&](std::uint64_t dz, std::uint64_t dy, std::uint64_t dx) {
    const Extents3 back{dz, dy, dx};
    Extents3 from{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (at[axis] % params.chunk[axis] < back[axis]) return 0.0;
      from[axis] = at[axis] - back[axis];
    }
    return field[(from[0] * extents[1] + from[1]) * extents[2] + from[2]];
  };
  const double prediction = value(0, 0, 1) + value(0, 1, 0) + value(1, 0, 0) - value(0, 1, 1) -
                            value(1, 0, 1) - value(1, 1, 0) + value(1, 1, 1);
  return std::fabs(value(0, 0, 0) - prediction);
}

constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("chunks are as the paper has them") {
  CHECK(LorenzoParams::draft({}, {1, 1, 1000}).chunk == Extents3{1, 1, 256});
  CHECK(LorenzoParams::draft({}, {1, 100, 1000}).chunk == Extents3{1, 16, 16});
  CHECK(LorenzoParams::draft({}, {10, 100, 1000}).chunk == Extents3{8, 8, 8});
}

TEST_CASE("values are rounded to integers in a range that sums cannot leave") {
  CHECK(prequantise(2.5, 1).value == 2);
  CHECK(prequantise(-3.5, 1).value == -4);
  CHECK(prequantise(10, 0.25).value == 2);
  CHECK(prequantise(max_prequantised - 1, 1).in_range);
  for (const double value :
       {max_prequantised, -max_prequantised, nan64, std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(prequantise(value, 1).in_range);
    CHECK(prequantise(value, 1).value == 0);
  }
  CHECK(dequantise<float>(3, 0.5, -10, 10) == 1.5F);
  CHECK(dequantise<float>(100, 0.5, -10, 10) == 10);
  CHECK(dequantise<double>(std::numeric_limits<std::int64_t>::min(), 1e300, -10, 10) == -10);
}

TEST_CASE("integers of 32 bits become doubles by addition") {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  for (const std::int32_t integer : {least, least + 1, -1, 0, 1, 12'345, most}) {
    CHECK(double_of(integer) == static_cast<double>(integer));
    CHECK_FALSE(std::signbit(double_of(0)));
    CHECK(dequantise<float>(integer, 0.1, -5e6, 5e6) ==
          dequantise<float>(std::int64_t{integer}, 0.1, -5e6, 5e6));
  }
}

TEMPLATE_TEST_CASE("values close to their integers come back within the bound", "", float, double) {
  Random random(23);
  constexpr DType dtype = sizeof(TestType) == 4 ? DType::f32 : DType::f64;
  int certain = 0;
  for (int i = 0; i < 200; ++i) {
    const auto max = static_cast<TestType>(
        std::ldexp(random.uniform() + 0.5, 20 - static_cast<int>(random.below(40))));
    const auto min = static_cast<TestType>(max * (random.uniform() * 4 - 3));
    const double bound = (double{max} - double{min}) * std::pow(10, -1 - 5 * random.uniform());
    if (!(bound > 0)) continue;
    const double step = 2 * half_step_for(bound, min, max, dtype);
    const double fraction = certain_fraction<TestType>(step, bound, min, max);
    for (int k = 0; k < 500; ++k) {
      const auto value = static_cast<TestType>(min + random.uniform() * (double{max} - min));
      const std::int64_t integer = prequantise(value, 1 / step).value;
      if (std::fabs(value * (1 / step) - static_cast<double>(integer)) >= fraction) continue;
      ++certain;
      const auto restored = dequantise<TestType>(integer, step, min, max);
      REQUIRE(within_bound(value, restored, bound));
    }
  }
  CHECK(certain > 50'000);
}

TEST_CASE("codes express deltas within the radius") {
  for (const std::int32_t radius : {1, 2, 512, 32'768}) {
    for (std::int64_t delta = 1 - radius; delta < radius; delta += 1 + radius / 100) {
      const QuantCode code = code_of_delta(delta, radius);
      CHECK(code != outlier_code);
      CHECK(delta_of_code(code, radius) == delta);
    }
    CHECK(code_of_delta(radius, radius) == outlier_code);
    CHECK(code_of_delta(-radius, radius) == outlier_code);
  }
}

TEST_CASE("a sum of functions of two axes needs no codes inside of chunks") {
  const Extents3 extents{9, 17, 10};
  std::vector<float> values;
  for (std::uint64_t z = 0; z < extents[0]; ++z) {
    for (std::uint64_t y = 0; y < extents[1]; ++y) {
      for (std::uint64_t x = 0; x < extents[2]; ++x) {
        values.push_back(static_cast<float>(z * y + 3 * x * z + x * x * y));
      }
    }
  }
  const LorenzoParams params{{8, 8, 8}, 4096, 0.5};
  const auto codes = encode(params, 0.5, extents, values).codes;
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const Extents3 at = coordinates_of(i, extents);
    const bool inside = at[0] % 8 != 0 && at[1] % 8 != 0 && at[2] % 8 != 0;
    if (inside) REQUIRE(codes[i] == params.radius);
  }
  // The first point of a chunk is predicted as 0.
  const std::uint64_t second_chunk = point_at({8, 8, 8}, extents);
  CHECK(codes[second_chunk] == params.radius + 8 * 8 + 3 * 8 * 8 + 8 * 8 * 8);
}

TEST_CASE("missing points repeat the last value of their row in the chunk") {
  const LorenzoParams params{{1, 1, 6}, 16, 0.5};
  const std::vector<double> values{nan64, 3, nan64, nan64, 5, 5, nan64, 2};
  const auto codes = encode(params, 0.5, {1, 1, 8}, values).codes;
  std::vector<int> deltas;
  for (const QuantCode code : codes) deltas.push_back(static_cast<int>(code) - 16);
  CHECK(deltas == std::vector<int>{0, 3, 0, 0, 2, 0, 0, 2});
}

TEST_CASE("deltas beyond the radius are outliers, values beyond the integers are patches") {
  const LorenzoParams params{{1, 1, 256}, 4, 0.5};
  const std::vector<double> values{0, 3, 7, 6, -1e300, 2};
  const Encoded encoded = encode(params, 0.5, {1, 1, 6}, values);
  CHECK(encoded.codes == std::vector<QuantCode>{4, 7, outlier_code, 3, outlier_code, 6});
  REQUIRE(encoded.outliers.size() == 2);
  CHECK(encoded.outliers[0].point == 2);
  CHECK(unzigzag(encoded.outliers[0].value) == 4);
  CHECK(encoded.outliers[1].point == 4);
  CHECK(unzigzag(encoded.outliers[1].value) == -6);
  REQUIRE(encoded.patches.size() == 1);
  CHECK(encoded.patches[0].point == 4);
  CHECK(cpu::value_of<double>(encoded.patches[0].value) == -1e300);
}

TEST_CASE("sampled errors are those of lorenzo") {
  Random random(1);
  const FillValues no_fills;
  for (const Dims& dims : {Dims{500}, Dims{40, 50}, Dims{10, 20, 30}}) {
    const Extents3 extents = dims.as_3d();
    const auto field = make_values<double>(FieldKind::rough, dims, 1);
    const LorenzoParams params = LorenzoParams::draft({}, extents);
    for (int i = 0; i < 500; ++i) {
      const Extents3 at = coordinates_of(random.below(dims.count()), extents);
      const double error =
          sampled_lorenzo_error(params, extents, field.data(), at, MissingTest<double>(no_fills));
      REQUIRE(std::fabs(error - lorenzo_error(params, extents, field, at)) < 1e-12);
    }
  }
}

TEST_CASE("lorenzo's parameters come back") {
  ByteWriter out;
  LorenzoParams{{8, 16, 32}, 1024, 1e-3}.write(out);
  ByteReader in(out.view(), "the test");
  const LorenzoParams params = LorenzoParams::read(in, {100, 100, 100}, DType::f32);
  CHECK_NOTHROW(in.expect_end());
  CHECK(params.chunk == Extents3{8, 16, 32});
  CHECK(params.radius == 1024);
  CHECK(params.half_step == 1e-3);
}

TEST_CASE("hostile parameters of lorenzo are refused") {
  const auto read = [](const LorenzoParams& params) {
    ByteWriter out;
    params.write(out);
    ByteReader in(out.view(), "the test");
    return LorenzoParams::read(in, {100, 100, 100}, DType::f32).radius;
  };
  constexpr std::uint64_t large = std::uint64_t{1} << 32;
  CHECK(read({{8, 8, 8}, 512, 1e-3}) == 512);
  CHECK_THROWS_AS(read({{0, 8, 8}, 512, 1e-3}), ArchiveError);
  CHECK_THROWS_AS(read({{large, large, 8}, 512, 1e-3}), ArchiveError);
  CHECK_THROWS_AS(read({{128, 128, 128}, 512, 1e-3}), ArchiveError);
  CHECK_THROWS_AS(read({{8, 8, 8}, 0, 1e-3}), ArchiveError);
  CHECK_THROWS_AS(read({{8, 8, 8}, max_radius + 1, 1e-3}), ArchiveError);
  CHECK_THROWS_AS(read({{8, 8, 8}, 512, 0}), ArchiveError);
  CHECK_THROWS_AS(read({{8, 8, 8}, 512, nan64}), ArchiveError);
  CHECK_THROWS_AS(read({{8, 8, 8}, 512, 1e300}), ArchiveError);
}

}  // namespace cuszi::test
