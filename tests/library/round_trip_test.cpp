#include <cstring>
#include <limits>

#include "tests/library/fields.hpp"

namespace cuszi::test {

TEMPLATE_TEST_CASE("a field comes back within its bound", "[library]", float, double) {
  const auto values = make_values<TestType>(points);
  cuszi::Context context;
  for (const std::int32_t preset : {CUSZI_PRESET_RATIO, CUSZI_PRESET_CUSZI, CUSZI_PRESET_CUSZ}) {
    for (const std::uint64_t frame_bytes : {0U, 65536U}) {
      cuszi_options options = cuszi::absolute(1e-2);
      options.preset = preset;
      options.frame_bytes = frame_bytes;
      const Archive archive = context.compress(values, dims, options);
      CHECK(archive.size() < values.size() * sizeof(TestType) / 4);
      const cuszi_info info = context.info(archive.data(), archive.size());
      CHECK(info.field.rank == 3);
      CHECK(std::equal(dims.begin(), dims.end(), std::begin(info.field.dims)));
      CHECK(info.mode == CUSZI_ABS);
      CHECK(info.bound_absolute == 1e-2);
      const auto frame_points = info.frame_height * 30 * 40;
      CHECK(info.frames == (points + frame_points - 1) / frame_points);
      CHECK(largest_error(values, context.decompress<TestType>(archive)) <= 1e-2);
    }
  }
}

TEST_CASE("missing values come back bit for bit", "[library]") {
  auto values = make_values<float>(points);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[9] = 1e20F;
  const double fill = 1e20;
  cuszi_options options = cuszi::relative(1e-3);
  options.fills = &fill;
  options.fill_count = 1;
  const Archive archive = archive_of(values, options);
  cuszi::Context context;
  const cuszi_info info = context.info(archive.data(), archive.size());
  CHECK(info.fill_count == 1);
  CHECK(info.fills[0] == 1e20);
  CHECK(info.bound_absolute < 0.01);
  const auto restored = context.decompress<float>(archive);
  CHECK(std::memcmp(&restored[7], &values[7], sizeof(float)) == 0);
  CHECK(restored[9] == values[9]);
}

TEST_CASE("the bound on an archive's size holds for noise", "[library]") {
  std::mt19937 random(5);
  std::vector<float> values(points);
  for (float& value : values) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    std::memcpy(&value, &bits, sizeof value);
  }
  for (const std::uint64_t frame_bytes : {0U, 4800U}) {
    cuszi_options options = cuszi::relative(0);
    options.frame_bytes = frame_bytes;
    const cuszi_field field = cuszi::field_of<float>(dims);
    const Archive archive = archive_of(values, options);  // in a buffer of that size
    CHECK(archive.size() <= cuszi_bound(&field, &options));
    CHECK(archive.size() > points * sizeof(float) * 9 / 10);
  }
}

TEST_CASE("targets are reached, told and checked", "[library]") {
  const auto values = make_values<float>(points);
  cuszi::Context context;
  for (auto [options, most] :
       {std::pair{cuszi::psnr(60), 60.5}, std::pair{cuszi::ratio(12), 12.5}}) {
    options.preset = CUSZI_PRESET_CUSZI;  // the quickest trials
    const Archive archive = context.compress(values, dims, options);
    CHECK(context.reached() >= options.bound);
    CHECK(context.reached() < most);
    const cuszi_info info = context.info(archive.data(), archive.size());
    CHECK(info.mode == CUSZI_ABS);
    CHECK(largest_error(values, context.decompress<float>(archive)) <= info.bound_absolute);
    if (options.mode == CUSZI_RATIO) {
      CHECK(context.reached() ==
            static_cast<double>(points * sizeof(float)) / static_cast<double>(archive.size()));
    }
  }
  cuszi_options beyond = cuszi::ratio(1e6);
  beyond.preset = CUSZI_PRESET_CUSZI;
  context.compress(values, dims, beyond);
  CHECK(context.reached() < 1e6);
  context.compress(values, dims, cuszi::absolute(0.01));
  CHECK(std::isnan(context.reached()));
  const auto refused = [](cuszi_options options) {
    const auto [status, text] = failure_of(options);
    return status == CUSZI_BAD_USAGE && text.find("bound") == 0;
  };
  CHECK(refused(cuszi::psnr(0)));
  CHECK(refused(cuszi::psnr(401)));
  CHECK(refused(cuszi::ratio(0.5)));
  CHECK(refused(cuszi::ratio(std::nan(""))));
}

TEST_CASE("what was written can be verified", "[library]") {
  cuszi_options options = cuszi::relative(1e-3);
  const auto values = make_values<float>(points);
  const Archive archive = archive_of(values, options);
  options.verify = 1;
  CHECK(archive_of(values, options) == archive);
}

TEST_CASE("a limit of memory is kept before it is taken", "[library]") {
  const auto values = make_values<float>(points);
  std::vector<float> restored(points);
  const Archive archive = archive_of(values, cuszi::absolute(1e-2));
  cuszi::Context context;
  cuszi_options options = cuszi_default_options();
  const auto restore = [&](std::uint64_t limit) {
    options.memory_limit = limit;
    return cuszi_decompress(context.get(), &options, archive.data(), archive.size(),
                            restored.data(), points * sizeof(float));
  };
  CHECK(restore(points * sizeof(float) / 2) == CUSZI_BAD_ARCHIVE);
  CHECK(std::string(cuszi_last_error(context.get())).find("12x30x40") != std::string::npos);
  CHECK(restore(16 * points * sizeof(float)) == CUSZI_OK);
  CHECK(restore(0) == CUSZI_OK);
}

TEST_CASE("what a buffer lacks is told by a size that is enough", "[library]") {
  const auto values = make_values<float>(points);
  const cuszi_field field = cuszi::field_of<float>(dims);
  cuszi::Context context;
  for (const cuszi_options& options : {cuszi::absolute(1e-2), cuszi_default_options()}) {
    Archive archive(100);
    std::size_t size = 0;
    const auto compress = [&] {
      return cuszi_compress(context.get(), &options, &field, values.data(), archive.data(),
                            archive.size(), &size);
    };
    REQUIRE(compress() == CUSZI_NO_ROOM);
    const std::string text = cuszi_last_error(context.get());
    const std::size_t at = text.find("; ");
    REQUIRE(at != std::string::npos);
    archive.resize(std::stoul(text.substr(at + 2)));
    CHECK(compress() == CUSZI_OK);
    archive.resize(size);
    CHECK(archive == context.compress(values, dims, options));
  }
}

TEST_CASE("arguments that are NULL or too small are told", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.preset = CUSZI_PRESET_CUSZ;
  const Archive archive = archive_of(values, options);
  cuszi_field field = cuszi::field_of<float>(dims);
  cuszi::Context owner;
  cuszi_context* const context = owner.get();
  Archive buffer(archive.size());
  std::vector<float> restored(points);
  std::size_t size = 0;
  const auto compress = [&](const cuszi_field* f, const void* from, void* to, std::size_t room,
                            std::size_t* result) {
    return cuszi_compress(context, &options, f, from, to, room, result);
  };
  CHECK(compress(nullptr, values.data(), buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, nullptr, buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, values.data(), nullptr, buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, values.data(), buffer.data(), buffer.size(), nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_last_error(context) == std::string("archive_size is NULL"));
  CHECK(cuszi_compress(nullptr, &options, &field, values.data(), buffer.data(), 1, &size) ==
        CUSZI_BAD_USAGE);
  for (std::size_t room = 0; room < archive.size(); room += 499) {
    CHECK(compress(&field, values.data(), buffer.data(), room, &size) == CUSZI_NO_ROOM);
  }
  CHECK(compress(&field, values.data(), buffer.data(), archive.size(), &size) == CUSZI_OK);
  CHECK(cuszi_last_error(context) == std::string());
  CHECK(buffer == archive);
  CHECK(cuszi_decompress(context, nullptr, archive.data(), archive.size(), restored.data(),
                         points * sizeof(float) - 1) == CUSZI_NO_ROOM);
  CHECK(cuszi_decompress(context, nullptr, nullptr, 10, restored.data(), 1) == CUSZI_BAD_USAGE);
  field.rank = 5;
  CHECK(compress(&field, values.data(), buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(cuszi_field_bytes(&field) == 0);
  CHECK(cuszi_bound(&field, &options) == 0);
  cuszi_info info{};
  CHECK(cuszi_read_info(context, archive.data(), archive.size(), &info) == CUSZI_BAD_USAGE);
}

TEST_CASE("values may lie at any address", "[library]") {
  const auto values = make_values<double>(points);
  std::vector<std::byte> shifted(values.size() * sizeof(double) + 1);
  std::memcpy(shifted.data() + 1, values.data(), values.size() * sizeof(double));
  const cuszi_field field = cuszi::field_of<double>(dims);
  const cuszi_options options = cuszi::absolute(1e-2);
  Archive archive(cuszi_bound(&field, &options));
  cuszi::Context context;
  archive.resize(
      context.compress(options, field, shifted.data() + 1, archive.data(), archive.size()));
  CHECK(archive == context.compress(values, dims, options));
  context.decompress(nullptr, archive.data(), archive.size(), shifted.data() + 1,
                     shifted.size() - 1);
  std::vector<double> restored(points);
  std::memcpy(restored.data(), shifted.data() + 1, shifted.size() - 1);
  CHECK(restored == context.decompress<double>(archive));
}

TEST_CASE("damaged archives give an error", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.preset = CUSZI_PRESET_CUSZI;
  const Archive whole = archive_of(values, options);
  std::vector<float> restored(points);
  cuszi::Context context;
  const auto status_of = [&](const Archive& archive) {
    const cuszi_status status =
        cuszi_decompress(context.get(), nullptr, archive.data(), archive.size(), restored.data(),
                         restored.size() * sizeof(float));
    const std::string text = cuszi_last_error(context.get());
    CHECK(text.empty() == (status == CUSZI_OK));
    return status;
  };
  REQUIRE(status_of(whole) == CUSZI_OK);
  std::mt19937 random(11);
  for (int i = 0; i < 150; ++i) {
    Archive damaged = whole;
    damaged[random() % damaged.size()] ^= std::byte{static_cast<unsigned char>(1U << (i % 8))};
    CHECK(status_of(damaged) == CUSZI_BAD_ARCHIVE);
  }
  for (std::size_t size = 0; size < whole.size(); size += 29) {
    CHECK(status_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) ==
          CUSZI_BAD_ARCHIVE);
  }
  CHECK(status_of(whole) == CUSZI_OK);  // the context is as good as before
}

}  // namespace cuszi::test
