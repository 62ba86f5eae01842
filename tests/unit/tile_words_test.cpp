#include "core/tiles/tile_words.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

FrameTask exact_task(const Dims& dims, DType dtype) {
  FrameTask task;
  task.shape = {dtype, dims};
  task.config.predictor.id = PredictorId::tiles;
  task.mode = ErrorMode::absolute;
  task.bound = 0;
  return task;
}

/// Compresses without loss, and checks that each bit comes back.
CompressedFrame check_exact(const FrameTask& task, Bytes values) {
  INFO(task.shape.dims.to_string() << ' ' << name_of(task.shape.dtype));
  const auto cpu = cpu::make_backend();
  CompressedFrame frame = check_frame(*cpu, task, values);
  REQUIRE(restore(*cpu, task.shape, frame.bytes) == to_vector(values));
  REQUIRE(compress_at_once(*cpu, task, task.bound, values).bytes == frame.bytes);
  constexpr ByteCount most_header = 128;
  CHECK(frame.bytes.size() <= values.size() + most_header);
  return frame;
}

template <class T>
CompressedFrame check_exact(const Dims& dims, const std::vector<T>& values) {
  const DType dtype = std::is_same_v<T, float>          ? DType::f32
                      : std::is_same_v<T, std::int32_t> ? DType::i32
                                                        : DType::u32;
  return check_exact(exact_task(dims, dtype), bytes_of(values));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("words of tiles ascend with floating-point values") {
  const TileWordMap map(DType::f32);
  const std::vector<float> ascending{-infinity, -3e38F, -2, -1, -1e-42F, -0.0F,
                                     0.0F,      1e-42F, 1,  2,  3e38F,   infinity};
  std::int32_t before = std::numeric_limits<std::int32_t>::min();
  for (const float value : ascending) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto word = static_cast<std::int32_t>(map.word_of(bits, 0));
    INFO(value);
    CHECK(word > before);
    CHECK(map.bits_of(static_cast<std::uint32_t>(word), 0) == bits);
    before = word;
  }
  CHECK(map.word_of(0, 0) == 0);
}

TEST_CASE("words of tiles come back without the low bits that are 0") {
  Random random(1);
  for (const DType dtype : {DType::f32, DType::i32, DType::u32}) {
    const TileWordMap map(dtype);
    for (std::uint32_t zeros = 0; zeros < 32; ++zeros) {
      for (int i = 0; i < 100; ++i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(random.next()) >> zeros << zeros;
        REQUIRE(map.bits_of(map.word_of(bits, zeros), zeros) == bits);
      }
    }
  }
  CHECK(low_zeros_of(0) == 0);
  CHECK(low_zeros_of(1) == 0);
  CHECK(low_zeros_of(0x80000000U) == 31);
  CHECK(low_zeros_of(0x50U) == 4);
}

TEST_CASE("the base of a tile of words holds its first word and the zeros") {
  for (const std::uint32_t first : {0U, 1U, ~0U, 0x7FFFFFFFU, 0x80000000U}) {
    for (const std::uint32_t zeros : {0U, 1U, 31U}) {
      const auto read = TileWordBase::from(TileWordBase{first, zeros}.word());
      CHECK(read.first == first);
      CHECK(read.zeros == zeros);
      CHECK(base_bytes_of(TileWordBase{first, zeros}.word()) <= 5);
    }
  }
}

TEST_CASE("tiles code fields of 32-bit values of all dims without loss") {
  for (const Dims& dims :
       {Dims{1}, Dims{2}, Dims{1023}, Dims{5000}, Dims{1, 1}, Dims{31, 33}, Dims{100, 100},
        Dims{3, 3, 3}, Dims{8, 8, 16}, Dims{9, 10, 20}, Dims{40, 41, 42}, Dims{2, 9, 17, 33}}) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::rough, FieldKind::sparse, FieldKind::constant,
          FieldKind::missing, FieldKind::wide, FieldKind::ramp, FieldKind::steps}) {
      for (const DType dtype : {DType::f32, DType::i32, DType::u32}) {
        if (sanitized && kind != FieldKind::rough && (dtype != DType::f32 || dims.count() > 2000))
          continue;
        check_exact(exact_task(dims, dtype), make_field(kind, dims, dtype, 1));
      }
    }
  }
}

TEST_CASE("smooth values become words of tiles, random ones are stored") {
  const Dims dims{40, 41, 42};
  const auto smooth = check_exact(dims, make_values<float>(FieldKind::smooth, dims, 1));
  CHECK(smooth.header.kind == FrameKind::tiled);
  CHECK(smooth.bytes.size() < dims.count() * sizeof(float) * 9 / 10);
  Random random(2);
  std::vector<std::uint32_t> bits(dims.count());
  for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random.next());
  CHECK(check_exact(dims, bits).header.kind == FrameKind::stored);
  // Between tiles that do not pay, one that does.
  std::fill(bits.begin() + 20'000, bits.begin() + 60'000, 7U);
  CHECK(check_exact(dims, bits).header.kind == FrameKind::tiled);
}

TEST_CASE("any value is an ordinary one without loss") {
  const Dims dims{20, 30, 40};
  std::vector<float> values = make_values<float>(FieldKind::smooth, dims, 1);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double min = *least;
  const double max = *most;
  values[0] = std::bit_cast<float>(0xFFC12345U);  // NaN with a payload
  values[777] = std::bit_cast<float>(0x7F800001U);
  values[5000] = -infinity;
  values[5001] = -0.0F;
  values[5002] = std::numeric_limits<float>::denorm_min();
  const CompressedFrame frame = check_exact(dims, values);
  CHECK(frame.header.kind == FrameKind::tiled);
  CHECK(frame.header.missing == 3);
  CHECK(frame.header.min == min);
  CHECK(frame.header.max == max);
}

TEST_CASE("low bits that are 0 in a tile take no bytes") {
  const Dims dims{64, 64};
  std::vector<float> values(dims.count());
  Random random(3);
  for (float& value : values) value = static_cast<float>(random.below(256)) - 100.0F;
  const CompressedFrame frame = check_exact(dims, values);
  CHECK(frame.header.kind == FrameKind::tiled);
  CHECK(frame.bytes.size() < dims.count() * 5 / 2);
}

TEST_CASE("a frame of one value is not of words of tiles") {
  const Dims dims{64, 64};
  CHECK(check_exact(dims, std::vector<float>(dims.count(), 0.25F)).header.kind ==
        FrameKind::constant);
  std::vector<float> zeros(dims.count());
  zeros[100] = -0.0F;
  CHECK(check_exact(dims, zeros).header.kind == FrameKind::tiled);
}

TEST_CASE("tiles leave values of other types to predicted frames") {
  const Dims dims{20, 30, 40};
  for (const DType dtype : {DType::f64, DType::f16, DType::i16, DType::u8, DType::i64}) {
    const auto frame =
        check_exact(exact_task(dims, dtype), make_field(FieldKind::smooth, dims, dtype, 1));
    CHECK(frame.header.kind == FrameKind::predicted);
  }
}

TEST_CASE("a bound that is finer than any step leaves words of tiles") {
  const Dims dims{20, 30, 40};
  FrameTask task = exact_task(dims, DType::f32);
  task.bound = 1e-43;
  CHECK(check_exact(task, make_field(FieldKind::smooth, dims, DType::f32, 1)).header.kind ==
        FrameKind::tiled);
}

}  // namespace cuszi::test
