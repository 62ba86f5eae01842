#include <array>
#include <cstring>

#include "tests/library/fields.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

constexpr std::array presets{CUSZI_PRESET_FAST, CUSZI_PRESET_CUSZ, CUSZI_PRESET_CUSZI,
                             CUSZI_PRESET_ZFP, CUSZI_PRESET_RATIO};

/// A field that goes to an archive and back without waiting, and all that the calls write.
struct Trip {
  cuszi_field field{};
  cuszi_options options{};
  std::vector<float> values;
  Archive archive;
  std::size_t size = 77;
  std::vector<float> restored;
  std::int32_t compressed = -1;
  std::int32_t decompressed = -1;

  explicit Trip(std::size_t number)
      : field(field_of<float>({3 + number % 5, 7, 11 + number % 3})),
        options(cuszi::absolute(1e-3)),
        values(make_values<float>(cuszi_field_bytes(&field) / sizeof(float),
                                  static_cast<unsigned>(number))),
        archive(cuszi_bound(&field, &options)),
        restored(values.size()) {
    options.preset = presets.at(number % presets.size());
    options.threads = 1;
  }

  void start(Context& context) {
    context.compress_async(options, field, values.data(), archive.data(), archive.size(), &size,
                           &compressed);
    context.decompress_async(nullptr, number_of_field(), archive.data(), &size, restored.data(),
                             bytes(), &decompressed);
  }

  std::size_t bytes() const { return values.size() * sizeof(float); }

  /// Whether all is as calls that wait make it.
  bool is_good(Context& context) const {
    if (compressed != CUSZI_OK || decompressed != CUSZI_OK) return false;
    Archive expected(archive.size());
    expected.resize(
        context.compress(options, field, values.data(), expected.data(), expected.size()));
    std::vector<float> back(values.size());
    context.decompress(nullptr, expected.data(), expected.size(), back.data(), bytes());
    return size == expected.size() &&
           std::equal(expected.begin(), expected.end(), archive.begin()) &&
           std::memcmp(back.data(), restored.data(), bytes()) == 0;
  }

 private:
  /// Some calls name the field that the archive must have.
  const cuszi_field* number_of_field() const {
    return options.preset == CUSZI_PRESET_CUSZ ? nullptr : &field;
  }
};

}  // namespace

TEST_CASE("calls that return without waiting make what others make", "[library]") {
  for (const std::size_t count : {0U, 1U, cuszi::test::sanitized ? 40U : 1000U}) {
    Context context;
    std::vector<Trip> trips;
    for (std::size_t i = 0; i < count; ++i) trips.emplace_back(i);
    for (Trip& trip : trips) trip.start(context);
    context.wait();
    std::size_t good = 0;
    for (const Trip& trip : trips) good += trip.is_good(context) ? 1 : 0;
    CHECK(good == count);
  }
}

TEST_CASE("a call that fails without being waited for lets others go on", "[library]") {
  Context context;
  std::vector<Trip> trips;
  for (std::size_t i = 0; i < 12; ++i) trips.emplace_back(i);
  trips[2].archive.resize(3);
  trips[7].field.rank = 5;
  trips[9].restored.clear();
  for (Trip& trip : trips) {
    context.compress_async(trip.options, trip.field, trip.values.data(), trip.archive.data(),
                           trip.archive.size(), &trip.size, &trip.compressed);
    context.decompress_async(nullptr, nullptr, trip.archive.data(), &trip.size,
                             trip.restored.data(), trip.restored.size() * sizeof(float),
                             &trip.decompressed);
  }
  CHECK(cuszi_wait(context.get()) == CUSZI_NO_ROOM);
  const std::string error = cuszi_last_error(context.get());
  CHECK(error.starts_with("call 4: the buffer of 3 bytes is too small"));
  CHECK(error.ends_with("(and 4 more)"));
  CHECK(trips[2].compressed == CUSZI_NO_ROOM);
  CHECK(trips[2].size == 0);
  CHECK(trips[2].decompressed == CUSZI_BAD_ARCHIVE);
  CHECK(trips[7].compressed == CUSZI_BAD_USAGE);
  CHECK(trips[7].decompressed == CUSZI_BAD_ARCHIVE);
  CHECK(trips[9].compressed == CUSZI_OK);
  CHECK(trips[9].decompressed == CUSZI_NO_ROOM);
  for (const std::size_t i : {0U, 1U, 3U, 4U, 5U, 6U, 8U, 10U, 11U})
    CHECK(trips[i].is_good(context));
  CHECK(cuszi_wait(context.get()) == CUSZI_OK);
  CHECK(cuszi_last_error(context.get()) == std::string());
}

TEST_CASE("archives of another field than was told are refused", "[library]") {
  Context context;
  Trip trip(0);
  trip.start(context);
  const cuszi_field other = field_of<double>({2, 3});
  std::int32_t status = -1;
  context.decompress_async(nullptr, &other, trip.archive.data(), &trip.size, trip.restored.data(),
                           trip.bytes(), &status);
  CHECK(cuszi_wait(context.get()) == CUSZI_BAD_ARCHIVE);
  CHECK(cuszi_last_error(context.get()) ==
        std::string("call 2: the archive contains 3x7x11 of f32, not 2x3 of f64"));
  CHECK(status == CUSZI_BAD_ARCHIVE);
}

TEST_CASE("what cannot be begun is told at once", "[library]") {
  Context context;
  Trip trip(0);
  std::size_t size = 5;
  std::int32_t status = 9;
  cuszi_options wrong = trip.options;
  wrong.version = 77;
  const auto compress = [&](const cuszi_options* options, const cuszi_field* field,
                            std::size_t* archive_size) {
    return cuszi_compress_async(context.get(), options, field, trip.values.data(),
                                trip.archive.data(), trip.archive.size(), archive_size, &status);
  };
  CHECK(compress(&wrong, &trip.field, &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&trip.options, nullptr, &size) == CUSZI_BAD_USAGE);
  CHECK(cuszi_last_error(context.get()) == std::string("field is NULL"));
  CHECK(compress(&trip.options, &trip.field, nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_decompress_async(context.get(), nullptr, nullptr, trip.archive.data(), nullptr,
                               trip.restored.data(), trip.bytes(), &status) == CUSZI_BAD_USAGE);
  CHECK(cuszi_compress_async(nullptr, &trip.options, &trip.field, nullptr, nullptr, 0, &size,
                             &status) == CUSZI_BAD_USAGE);
  CHECK(cuszi_wait(nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_wait(context.get()) == CUSZI_OK);
  CHECK(size == 5);
  CHECK(status == 9);
}

TEST_CASE("other calls, and the end of a context, wait for pending ones", "[library]") {
  std::vector<Trip> trips;
  for (std::size_t i = 0; i < 20; ++i) trips.emplace_back(i);
  {
    Context context;
    for (std::size_t i = 0; i < 10; ++i) trips[i].start(context);
    Trip other(10);
    context.compress(other.options, other.field, other.values.data(), other.archive.data(),
                     other.archive.size());
    cuszi_info info = cuszi_empty_info();
    CHECK(cuszi_read_info(context.get(), trips[9].archive.data(), trips[9].size, &info) ==
          CUSZI_OK);
    for (std::size_t i = 10; i < 20; ++i) trips[i].start(context);
  }
  Context context;
  for (const Trip& trip : trips) CHECK(trip.is_good(context));
}

TEST_CASE("pending calls tell of warnings", "[library]") {
  std::vector<float> few(100, 1.0F);
  for (std::size_t i = 0; i < few.size(); ++i)
    few[i] += i < 10 ? 1e20F : 0.01F * static_cast<float>(i);
  const cuszi_field field = field_of<float>({few.size()});
  Archive archive(10000);
  std::size_t size = 0;
  Context context;
  for (int i = 0; i < 2; ++i) {
    context.compress_async(absolute(1e-2), field, few.data(), archive.data(), archive.size(),
                           &size);
  }
  context.wait();
  CHECK(context.warning().starts_with("call 0: "));
  CHECK(context.warning().ends_with("(and 1 more)"));
}

TEST_CASE("a forked child makes calls of its own with its parent's context", "[library]") {
  Context context;
  Trip before(3);
  before.start(context);
  context.wait();
  CHECK(in_child([&] {
    Trip trip(1);
    trip.start(context);
    context.wait();
    return trip.is_good(context);
  }));
  Trip after(4);
  after.start(context);
  context.wait();
  CHECK(after.is_good(context));
}

}  // namespace cuszi::test
