#include "core/zfp/zfp_coding.hpp"

#include <algorithm>
#include <vector>

#include "core/field/quantizer.hpp"
#include "cpu_ref/zfp/zfp_coding.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

struct RoundTrip {
  std::vector<float> restored;
  PassCounts counts;
};

RoundTrip round_trip(const std::vector<float>& values, double bound,
                     const RestoreRules<float>& rules) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Dims dims{values.size()};
  const Mask none;
  ZfpCoding coding;
  coding.choose({}, {}, bound, DType::f32);
  const cpu::OwnCoded coded = cpu::encode_values(
      coding, bound, cpu::FrameInput<float>{dims.as_3d(), values, none, *low, *high, dims, rules});
  Sections sections;
  for (const cpu::OwnedSection& section : coded.sections) sections.add(section.id, section.bytes);
  RoundTrip result{std::vector<float>(values.size()), coded.counts};
  cpu::decode_values(
      std::get<ZfpCoding>(*coded.final_params), sections,
      cpu::FrameOutput<float>{dims.as_3d(), result.restored, none, *low, *high, dims});
  return result;
}

}  // namespace

TEST_CASE("a zfp block that vanishes within the bound does not become a fill value") {
  Random random(3);
  std::vector<float> values(1000);
  for (float& value : values) value = static_cast<float>(random.uniform() - 0.5) / 1000;
  values[500] = 3;
  FillValues zero;
  zero.add(0);
  const RestoreRules<float> rules({zero, {}}, -1, 1);
  const double bound = 0.25;
  CHECK(std::ranges::count(round_trip(values, bound, {}).restored, 0.0F) > 900);

  const RoundTrip kept = round_trip(values, bound, rules);
  CHECK(kept.counts.patches > 900);
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(may_restore_to(values[i], kept.restored[i], bound, rules));
  }
}

TEST_CASE("zfp chunks are as small as a hundredth of the stream allows") {
  const auto chunk_for = [](IndexKind kind, BitCount bits_per_block) {
    ZfpCoding coding;
    coding.index = kind;
    return coding.with_chosen_chunk(1000 * bits_per_block, 1000).chunk;
  };
  CHECK(chunk_for(IndexKind::length, 1600) == 1);
  CHECK(chunk_for(IndexKind::length, 1599) == 2);
  CHECK(chunk_for(IndexKind::length, 200) == 8);
  CHECK(chunk_for(IndexKind::hybrid, 200) == 9);
  CHECK(chunk_for(IndexKind::offset, 200) == 32);
  CHECK(chunk_for(IndexKind::hybrid, 1) == 256);
  ZfpCoding known;
  known.chunk = 5;
  CHECK(known.with_chosen_chunk(1, 1) == known);
}

}  // namespace cuszi::test
