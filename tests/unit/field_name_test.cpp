#include "codec/field_name.hpp"

#include "core/error.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("types are taken from names") {
  CHECK(dtype_in_name("a/b.f32") == DType::f32);
  CHECK(dtype_in_name("b.f64") == DType::f64);
  CHECK(dtype_in_name("b.d64") == DType::f64);
  CHECK_FALSE(dtype_in_name("b.dat").has_value());
  CHECK_FALSE(dtype_in_name("b").has_value());
  CHECK_FALSE(dtype_in_name("f32").has_value());
}

TEST_CASE("dims are taken from names") {
  CHECK(dims_in_name("U_100x500x400.f32", std::nullopt) == Dims{100, 500, 400});
  CHECK(dims_in_name("a_7x8/U_3x4.bin", std::nullopt) == Dims{3, 4});
  CHECK(dims_in_name("CLDHGH_1_1800_3600.f32", 1800 * 3600) == Dims{1, 1800, 3600});
  CHECK(dims_in_name("U_2018_100_500.f32", 100 * 500) == Dims{100, 500});
  CHECK(dims_in_name("nbody_x_233217.f32", 233'217) == Dims{233'217});
  CHECK_FALSE(dims_in_name("nbody_x_233217.f32", 1000).has_value());
  CHECK_FALSE(dims_in_name("nbody_x_233217.f32", std::nullopt).has_value());
  CHECK_FALSE(dims_in_name("U.f32", 1000).has_value());
  CHECK_FALSE(dims_in_name("U_0x5.f32", 1000).has_value());
  CHECK_FALSE(dims_in_name("U_1x2x3x4x5.f32", 120).has_value());
  CHECK_FALSE(dims_in_name("U_99999999999999999999x5.f32", 120).has_value());
}

TEST_CASE("options go before names") {
  FieldOptions options;
  options.dims = Dims{6};
  options.dtype = DType::f64;
  const FieldLayout layout = layout_of("U_3x4.f32", options, 48);
  CHECK(layout.dims == Dims{6});
  CHECK(layout.dtype == DType::f64);
}

TEST_CASE("a layout that is not said is asked for") {
  CHECK_THROWS_AS(layout_of("U_3x4.dat", {}, 48), UsageError);
  CHECK_THROWS_AS(layout_of("U.f32", {}, 48), UsageError);
  CHECK(layout_of("U_12.f32", {}, 48).dims == Dims{12});
  FieldOptions with_header;
  with_header.skip_bytes = 8;
  CHECK(layout_of("U_12.f32", with_header, 56).dims == Dims{12});
}

TEST_CASE("archives are named after their fields") {
  CHECK(field_stem("a/U_3x4.f32.cuszi") == "a/U_3x4");
  CHECK(field_stem("U.cuszi") == "U");
  CHECK(field_stem("U.other") == "U.other");
}

}  // namespace cuszi::test
