#include "codec/field/field_name.hpp"

#include "core/base/error.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("types are taken from names") {
  CHECK(dtype_in_name("a/b.f32") == DType::f32);
  CHECK(dtype_in_name("b.f64") == DType::f64);
  CHECK(dtype_in_name("b.d64") == DType::f64);
  CHECK_FALSE(dtype_in_name("b.dat").has_value());
  CHECK_FALSE(dtype_in_name("b").has_value());
  CHECK_FALSE(dtype_in_name("f32").has_value());
  CHECK(dtype_in_name("TEMPERATURE.F32") == DType::f32);
  CHECK(dtype_in_name("dataset1-5423x3137.x.f32.dat") == DType::f32);
  CHECK(dtype_in_name("Uf48.bin.f32") == DType::f32);
  CHECK_FALSE(dtype_in_name("a.f32/b.bin").has_value());
}

TEST_CASE("raw fields are known by their names") {
  for (const char* name : {"U.f32", "a/U.bin.F32", "x y.d64", "U.raw", "U.DAT"}) {
    CHECK(is_field_name(name));
  }
  for (const char* name : {"U.f32.cuszi", "U.restored.f32", "readme.txt", ".f32", "a.f32/b", ""}) {
    CHECK_FALSE(is_field_name(name));
  }
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

TEST_CASE("dims may stand anywhere in a name") {
  const Dims dims{10, 20, 20};
  for (const char* name : {"U_10x20x20.bin.f32", "QC-10x20x20.log10.f32", "U_10x20x20_t48.f32",
                           "10X20X20.raw", "my field 10x20x20 (2).f32", "v2_10x20x20.f32",
                           "res10x20x20.f32", "7x8_U_10x20x20_v1x1.f32", "U_10_20_20_t48.f32",
                           "U_10_20_20_0042.f32", "U-10-20-20.pre.f32"}) {
    CAPTURE(name);
    CHECK(dims_in_name(name, 4000) == dims);
  }
  CHECK(dims_in_name("7x8_U_10x20x20.f32", 56) == Dims{7, 8});
  CHECK(dims_in_name("7x8_U_10x20x20.f32", 57) == dims);
  CHECK_FALSE(dims_in_name("v1_10x20x20b.f32", 4000).has_value());
  CHECK_FALSE(dims_in_name("x_t4000.f32", 4000).has_value());
}

TEST_CASE("dims are taken from folders where they fit") {
  CHECK(dims_in_name("SDRBENCH-Hurricane-100x500x500/Uf48.bin.f32", 25'000'000) ==
        Dims{100, 500, 500});
  CHECK(dims_in_name("/data/SDRBENCH-CESM-ATM-26x1800x3600/1800x3600/T.f32", 26 * 1800 * 3600) ==
        Dims{26, 1800, 3600});
  CHECK(dims_in_name("/a-10x20/b-20x10/U.f32", 200) == Dims{20, 10});
  CHECK(dims_in_name("/a-10x20/../b-20x10/./U.f32", 200) == Dims{20, 10});
  CHECK_FALSE(dims_in_name("a-10x20/U.f32", 201).has_value());
  CHECK_FALSE(dims_in_name("a-10x20/U.f32", std::nullopt).has_value());
  CHECK(dims_in_name("a-10x20/U_4x50.f32", 200) == Dims{4, 50});
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
