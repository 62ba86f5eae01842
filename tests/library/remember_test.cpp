#include <bit>

#include "tests/library/fields.hpp"

// What `remember` of cuszi_options does.

namespace cuszi::test {

namespace {

cuszi_options remembering(double bound, cuszi_preset preset = CUSZI_PRESET_RATIO) {
  cuszi_options options = cuszi::absolute(bound);
  options.preset = preset;
  options.remember = 1;
  return options;
}

std::vector<float> restored(Context& context, const Archive& archive,
                            const cuszi_options& options) {
  std::vector<float> values(points);
  REQUIRE(cuszi_decompress(context.get(), &options, archive.data(), archive.size(), values.data(),
                           values.size() * sizeof(float)) == CUSZI_OK);
  return values;
}

/// Random bits, also those of NaN.
std::vector<float> random_bits(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(points);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return values;
}

bool are_same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

TEST_CASE("what is not changed keeps its bits, and an unchanged field its archive", "[library]") {
  for (const cuszi_preset preset : {CUSZI_PRESET_RATIO, CUSZI_PRESET_FAST, CUSZI_PRESET_ZFP}) {
    const cuszi_options options = remembering(1e-2, preset);
    Context context;
    Archive archive = context.compress(make_values<float>(points), dims, options);
    const auto first = restored(context, archive, options);
    CHECK(context.compress(first, dims, options) == archive);
    auto changed = first;
    std::fill(changed.begin() + 1000, changed.begin() + 3000, 0.7F);
    archive = context.compress(changed, dims, options);
    const auto second = restored(context, archive, options);
    for (std::size_t i = 0; i < points; ++i) {
      const bool is_kept = are_same(second[i], first[i]);
      REQUIRE((i >= 1000 && i < 3000 ? std::abs(second[i] - 0.7) <= 1e-2 : is_kept));
    }
    CHECK(context.compress(second, dims, options) == archive);
  }
}

TEST_CASE("parts of an amended archive have its values", "[library]") {
  cuszi_options options = remembering(1e-2);
  options.frame_bytes = 5 * 30 * 40 * sizeof(float);
  options.axes = CUSZI_AXES_LATTICE;
  Context context;
  auto values =
      restored(context, context.compress(make_values<float>(points), dims, options), options);
  for (std::size_t i = 3000; i < 9000; i += 1 + i % 3) values[i] += 0.3F;
  const Archive archive = context.compress(values, dims, options);
  const auto whole = context.decompress<float>(archive);
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 1;
  part.end[0] = 11;
  part.first[2] = 7;
  for (const std::uint64_t stride : {1U, 2U, 4U}) {
    part.stride = stride;
    std::vector<float> expected;
    for (std::size_t i = 0; i < points; ++i) {
      const std::uint64_t z = i / 1200;
      const std::uint64_t x = i % 40;
      const bool is_shown = (z | (i / 40 % 30) | x) % stride == 0;
      if (is_shown && z >= 1 && z < 11 && x >= 7) expected.push_back(whole[i]);
    }
    std::vector<float> shown(expected.size());
    REQUIRE(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                  shown.data(), shown.size() * sizeof(float)) == CUSZI_OK);
    CHECK(shown == expected);
  }
}

TEST_CASE("an amended archive of values that do not compress has room", "[library]") {
  cuszi_field field{CUSZI_F32, 3, {dims[0], dims[1], dims[2]}};
  for (const double bound : {1e-30, 1e-3, 1e30}) {
    const cuszi_options options = remembering(bound, CUSZI_PRESET_FAST);
    Context context;
    auto values = random_bits(1);
    for (unsigned seed = 2; seed < 12; ++seed) {
      const Archive archive = context.compress(values, dims, options);
      REQUIRE(archive.size() <= cuszi_bound(&field, &options));
      const auto before = restored(context, archive, options);
      values = before;
      const auto others = random_bits(seed);
      for (std::size_t i = seed; i < points; i += seed) values[i] = others[i];
    }
  }
}

TEST_CASE("other options, relative bounds and targets do not amend", "[library]") {
  const cuszi_options options = remembering(1e-2, CUSZI_PRESET_FAST);
  Context context;
  const auto values =
      restored(context, context.compress(make_values<float>(points), dims, options), options);
  cuszi_options others[] = {options, options, options};
  others[0].bound = 1e-1;
  others[1].mode = CUSZI_REL;
  others[2].mode = CUSZI_RATIO;
  others[2].bound = 10;
  for (cuszi_options& other : others) {
    const Archive archive = context.compress(values, dims, other);
    other.remember = 0;
    CHECK(archive == context.compress(values, dims, other));
  }
}

}  // namespace cuszi::test
