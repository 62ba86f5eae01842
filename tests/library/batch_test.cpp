#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cuszi/cuszi.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace {

using Archive = std::vector<std::byte>;

/// A field of a batch, with all that its member points to.
struct Item {
  cuszi_field field{};
  cuszi_options options = cuszi_default_options();
  bool has_options = false;
  std::vector<std::byte> values;
  Archive archive;
  std::vector<std::byte> restored;

  cuszi_compression to_archive() {
    cuszi_compression member{};
    member.options = has_options ? &options : nullptr;
    member.field = field;
    member.values = values.data();
    member.archive = archive.data();
    member.capacity = archive.size();
    return member;
  }

  cuszi_decompression to_values(std::size_t size) {
    cuszi_decompression member{};
    member.archive = archive.data();
    member.size = size;
    member.values = restored.data();
    member.capacity = restored.size();
    return member;
  }
};

template <class T>
std::vector<std::byte> bytes_of_waves(std::size_t count, std::size_t number) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(std::sin(0.013 * static_cast<double>(i + 7 * number)) +
                               0.01 * static_cast<double>(i % 5));
  }
  const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + count * sizeof(T)};
}

/// Number `i` of a batch of all types, ranks and presets; every third has options of its own.
Item make_item(std::size_t i) {
  constexpr std::array presets{CUSZI_PRESET_FAST, CUSZI_PRESET_RATIO, CUSZI_PRESET_ZFP,
                               CUSZI_PRESET_CUSZ};
  const std::vector<std::vector<std::uint64_t>> shapes{
      {1}, {100}, {9, 13}, {5, 7, 11}, {2, 3, 4, 5}};
  const auto& dims = shapes[i % shapes.size()];
  Item item;
  item.field = i % 2 == 0 ? cuszi::field_of<float>(dims) : cuszi::field_of<double>(dims);
  const std::size_t bytes = cuszi_field_bytes(&item.field);
  item.values = i % 2 == 0 ? bytes_of_waves<float>(bytes / sizeof(float), i)
                           : bytes_of_waves<double>(bytes / sizeof(double), i);
  item.has_options = i % 3 == 0;
  item.options = cuszi::absolute(1e-2);
  item.options.preset = presets[i / 3 % presets.size()];
  item.archive.resize(cuszi_bound(&item.field, &item.options));
  item.restored.resize(bytes);
  return item;
}

std::vector<Item> make_items(std::size_t count) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) items.push_back(make_item(i));
  return items;
}

cuszi_options options_of_calls(int threads) {
  cuszi_options options = cuszi::relative(1e-3);
  options.preset = CUSZI_PRESET_FAST;
  options.threads = threads;
  return options;
}

std::vector<cuszi_compression> compressions_of(std::vector<Item>& items) {
  std::vector<cuszi_compression> members;
  for (Item& item : items) members.push_back(item.to_archive());
  return members;
}

std::vector<cuszi_decompression> decompressions_of(std::vector<Item>& items,
                                                   const std::vector<cuszi_compression>& made) {
  std::vector<cuszi_decompression> members;
  for (std::size_t i = 0; i < items.size(); ++i)
    members.push_back(items[i].to_values(made[i].size));
  return members;
}

/// The archive and the values of an item by calls for it alone.
std::pair<Archive, std::vector<std::byte>> alone(Item item, const cuszi_options& of_calls) {
  cuszi::Context context;
  item.archive.resize(context.compress(item.has_options ? item.options : of_calls, item.field,
                                       item.values.data(), item.archive.data(),
                                       item.archive.size()));
  context.decompress(nullptr, item.archive.data(), item.archive.size(), item.restored.data(),
                     item.restored.size());
  return {item.archive, item.restored};
}

/// Whether a member of a batch has come to what calls for it alone make.
bool is_as_alone(const Item& item, const cuszi_compression& made, const cuszi_options& of_calls) {
  const auto [archive, restored] = alone(item, of_calls);
  return made.status == CUSZI_OK && restored == item.restored &&
         archive == Archive(item.archive.begin(),
                            item.archive.begin() + static_cast<std::ptrdiff_t>(made.size));
}

}  // namespace

TEST_CASE("batches make what calls for each member make", "[library]") {
  for (const std::size_t count : {0U, 1U, 2U, cuszi::test::sanitized ? 30U : 1000U}) {
    for (const int threads : {1, 2, 7}) {
      const cuszi_options options = options_of_calls(threads);
      cuszi::Context context;
      std::vector<Item> items = make_items(count);
      std::vector<cuszi_compression> made = compressions_of(items);
      context.compress_batch(options, made);
      std::vector<cuszi_decompression> restored = decompressions_of(items, made);
      context.decompress_batch(&options, restored);
      CHECK(cuszi_last_error(context.get()) == std::string());
      std::size_t good = 0;
      for (std::size_t i = 0; i < count; ++i) {
        good += restored[i].status == CUSZI_OK && is_as_alone(items[i], made[i], options) ? 1 : 0;
      }
      CHECK(good == count);
    }
  }
}

TEST_CASE("batches go on without members that fail", "[library]") {
  for (const int threads : {1, 3}) {
    const cuszi_options options = options_of_calls(threads);
    cuszi::Context context;
    std::vector<Item> items = make_items(40);
    items[12].options.version = 77;
    std::vector<cuszi_compression> made = compressions_of(items);
    made[7].capacity = 3;
    made[11].values = nullptr;
    made[17].field.rank = 5;
    REQUIRE(cuszi_compress_batch(context.get(), &options, made.data(), made.size()) ==
            CUSZI_NO_ROOM);
    const std::string error = cuszi_last_error(context.get());
    CHECK(error.starts_with("member 7: the buffer of 3 bytes is too small"));
    CHECK(error.ends_with("(and 3 more)"));
    CHECK(made[7].status == CUSZI_NO_ROOM);
    for (const std::size_t bad : {11U, 12U, 17U}) CHECK(made[bad].status == CUSZI_BAD_USAGE);

    std::vector<cuszi_decompression> restored = decompressions_of(items, made);
    for (const std::size_t bad : {7U, 11U, 12U, 17U}) CHECK(made[bad].size == 0);
    restored[20].capacity = 1;
    items[21].archive[made[21].size / 2] ^= std::byte{1};
    REQUIRE(cuszi_decompress_batch(context.get(), &options, restored.data(), restored.size()) ==
            CUSZI_BAD_ARCHIVE);
    CHECK(std::string(cuszi_last_error(context.get())).starts_with("member 7: "));
    CHECK(restored[20].status == CUSZI_NO_ROOM);
    CHECK(restored[21].status == CUSZI_BAD_ARCHIVE);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool is_bad = i == 7 || i == 11 || i == 12 || i == 17 || i == 20 || i == 21;
      if (!is_bad) CHECK(is_as_alone(items[i], made[i], options));
    }
  }
}

TEST_CASE("batches tell of warnings, and of options that cannot be", "[library]") {
  cuszi::Context context;
  std::vector<Item> items = make_items(6);
  std::vector<float> few(100, 1.0F);
  for (std::size_t i = 0; i < few.size(); ++i)
    few[i] += i < 10 ? 1e20F : 0.01F * static_cast<float>(i);
  std::vector<cuszi_compression> made = compressions_of(items);
  made[4].field = cuszi::field_of<float>({few.size()});
  made[4].values = few.data();
  items[4].archive.resize(10000);
  made[4].archive = items[4].archive.data();
  made[4].capacity = items[4].archive.size();
  cuszi_options options = options_of_calls(2);
  REQUIRE(cuszi_compress_batch(context.get(), &options, made.data(), made.size()) == CUSZI_OK);
  CHECK(std::string(cuszi_last_warning(context.get())).starts_with("member 4: "));
  CHECK(std::isnan(cuszi_reached(context.get())));

  options.version = 77;
  CHECK(cuszi_compress_batch(context.get(), &options, made.data(), made.size()) == CUSZI_BAD_USAGE);
  for (const cuszi_compression& member : made) {
    CHECK(member.status == CUSZI_BAD_USAGE);
    CHECK(member.size == 0);
  }
  CHECK(cuszi_compress_batch(context.get(), nullptr, nullptr, 0) == CUSZI_OK);
  CHECK(cuszi_compress_batch(context.get(), nullptr, nullptr, 1) == CUSZI_BAD_USAGE);
  CHECK(cuszi_compress_batch(nullptr, nullptr, made.data(), 1) == CUSZI_BAD_USAGE);
  CHECK(cuszi_decompress_batch(nullptr, nullptr, nullptr, 0) == CUSZI_BAD_USAGE);
}
