#include "tests/library/fields.hpp"

namespace cuszi::test {

TEST_CASE("an end of UINT64_MAX leaves a part open, as 0 does", "[library]") {
  const Archive archive = archive_of(make_values<float>(points), cuszi::absolute(1e-2));
  cuszi::Context context;
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 5;
  part.end[0] = UINT64_MAX;
  cuszi_field field{};
  REQUIRE(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
          CUSZI_OK);
  CHECK(field.dims[0] == 7);
  part.end[0] = UINT64_MAX - 1;
  CHECK(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
        CUSZI_BAD_USAGE);
}

TEST_CASE("parts of a field have its values", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.frame_bytes = 5 * 30 * 40 * sizeof(float);
  options.axes = CUSZI_AXES_LATTICE;
  const Archive archive = archive_of(values, options);
  cuszi::Context context;
  const auto whole = context.decompress<float>(archive);
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 3;
  part.end[0] = 8;
  part.first[2] = 6;
  for (const std::uint64_t stride : {1U, 2U}) {
    part.stride = stride;
    cuszi_field field{};
    REQUIRE(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
            CUSZI_OK);
    std::vector<float> expected;
    for (std::uint64_t z = 3; z < 8; ++z) {
      for (std::uint64_t y = 0; y < 30; ++y) {
        for (std::uint64_t x = 6; x < 40; ++x) {
          if ((z | y | x) % stride == 0) expected.push_back(whole[(z * 30 + y) * 40 + x]);
        }
      }
    }
    REQUIRE(cuszi_field_bytes(&field) == expected.size() * sizeof(float));
    std::vector<float> restored(expected.size());
    const auto restore = [&](std::size_t room) {
      return cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                   restored.data(), room);
    };
    CHECK(restore(expected.size() * sizeof(float) - 1) == CUSZI_NO_ROOM);
    CHECK(restore(expected.size() * sizeof(float)) == CUSZI_OK);
    CHECK(restored == expected);
  }
  for (const std::uint64_t wrong : {UINT64_C(0), UINT64_C(3), UINT64_MAX}) {
    part.stride = wrong;
    CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                nullptr, 0) == CUSZI_BAD_USAGE);
  }
  part = cuszi_whole_field();
  part.end[0] = 13;
  CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                              nullptr, 0) == CUSZI_BAD_USAGE);
}

TEST_CASE("frames are parts", "[library]") {
  const auto values = make_values<double>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.frame_bytes = 65536;
  cuszi::Context context;
  const Archive archive = context.compress(values, dims, options);
  const auto whole = context.decompress<double>(archive);
  const std::uint64_t frames = context.info(archive.data(), archive.size()).frames;
  REQUIRE(frames > 1);
  cuszi_part part = cuszi_whole_field();
  std::vector<double> joined;
  for (std::uint64_t i = 0; i < frames; ++i) {
    REQUIRE(cuszi_frame_part(context.get(), archive.data(), archive.size(), i, &part) == CUSZI_OK);
    cuszi_field field{};
    cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field);
    std::vector<double> frame(cuszi_field_bytes(&field) / sizeof(double));
    CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                frame.data(), frame.size() * sizeof(double)) == CUSZI_OK);
    joined.insert(joined.end(), frame.begin(), frame.end());
  }
  CHECK(joined == whole);
  CHECK(cuszi_frame_part(context.get(), archive.data(), archive.size(), frames, &part) ==
        CUSZI_BAD_USAGE);
}

TEST_CASE("what a header claims has to be there for parts, not for its report", "[library]") {
  const std::vector<std::uint64_t> many{4096, 64};
  cuszi_options options = cuszi::absolute(1e-2);
  options.frame_bytes = 1;  // frames are as small as they can be
  cuszi::Context context;
  Archive archive = context.compress(std::vector<float>(4096 * 64, 1), many, options);
  archive.resize(512);
  REQUIRE(context.info(archive.data(), archive.size()).frames == 16);
  cuszi_part part = cuszi_whole_field();
  cuszi_field field{};
  CHECK(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
        CUSZI_BAD_ARCHIVE);
  CHECK(cuszi_frame_part(context.get(), archive.data(), archive.size(), 0, &part) ==
        CUSZI_BAD_ARCHIVE);
  CHECK_THROWS_AS(context.decompress<float>(archive), cuszi::Error);
}

}  // namespace cuszi::test
