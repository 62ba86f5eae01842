#include <bit>
#include <limits>

#include "core/base/error.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

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

/// Returns the frame.
CompressedFrame check_alike(Backend& gpu, const FrameTask& task, Bytes values) {
  const auto cpu = cpu::make_backend();
  INFO(task.shape.dims.to_string() << ' ' << name_of(task.shape.dtype));
  const CompressedFrame expected = compress_at_once(*cpu, task, 0.0, values);
  CompressedFrame made = compress_at_once(gpu, task, 0.0, values);
  REQUIRE(made.header.kind == expected.header.kind);
  REQUIRE(made.header.missing == expected.header.missing);
  REQUIRE(made.header.min == expected.header.min);
  REQUIRE(made.header.max == expected.header.max);
  REQUIRE(made.bytes == expected.bytes);
  REQUIRE(restore(gpu, task.shape, made.bytes) == to_vector(values));
  return made;
}

const std::vector<Dims> word_dims{
    {1},         {2},          {1023},       {5000},       {100000},      {1, 1},
    {31, 33},    {32, 64},     {100, 100},   {301, 444},   {3, 3, 3},     {8, 8, 16},
    {9, 10, 20}, {17, 23, 29}, {40, 40, 40}, {64, 64, 64}, {50, 70, 130}, {2, 9, 17, 33}};

}  // namespace

TEST_CASE("words of tiles have the CPU's bytes", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : word_dims) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::rough, FieldKind::sparse, FieldKind::constant,
          FieldKind::missing, FieldKind::wide, FieldKind::ramp, FieldKind::steps}) {
      for (const DType dtype : {DType::f32, DType::i32, DType::u32})
        check_alike(*gpu, exact_task(dims, dtype), make_field(kind, dims, dtype, 1));
    }
  }
}

TEST_CASE("words of tiles of any width have the CPU's bytes", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  Random random(4);
  for (const Dims& dims : {Dims{40'000}, Dims{200, 204}, Dims{40, 31, 36}}) {
    for (unsigned width = 0; width <= 32; ++width) {
      for (const unsigned zeros : {0U, 3U, 20U}) {
        std::vector<std::uint32_t> bits(dims.count());
        for (std::uint32_t& word : bits) {
          const auto any = static_cast<std::uint32_t>(random.next());
          word = (width == 0 ? 0 : any >> (32 - width)) << zeros;
          if (random.one_in(1000)) word = any << zeros;
        }
        for (const DType dtype : {DType::f32, DType::u32})
          check_alike(*gpu, exact_task(dims, dtype), bytes_of(bits));
      }
    }
  }
}

TEST_CASE("any value of words of tiles comes back from a device", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const Dims dims{60, 70, 80};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::bit_cast<float>(0xFFC12345U), std::bit_cast<float>(0x7F800001U),
                          infinity, -infinity, 3e38F, -3e38F, -0.F, 1e-45F}) {
    std::vector<float> values = make_values<float>(FieldKind::smooth, dims, 2);
    for (const std::size_t at : {values.size() / 2 + 17, std::size_t{0}, values.size() - 1}) {
      const float before = values[at];
      values[at] = odd;
      check_alike(*gpu, exact_task(dims, DType::f32), bytes_of(values));
      values[at] = before;
    }
  }
}

TEST_CASE("damaged words of tiles are errors on a device", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const Dims dims{33, 44, 55};
  const FrameTask task = exact_task(dims, DType::f32);
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  const CompressedFrame frame = check_alike(*gpu, task, values);
  REQUIRE(frame.header.kind == FrameKind::tiled);
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::byte> damaged = frame.bytes;
    const std::size_t payload = damaged.size() - frame.header.payload_bytes();
    for (std::uint64_t more = 1 + random.below(20); more != 0; --more)
      damaged[payload + random.below(damaged.size() - payload)] ^=
          static_cast<std::byte>(1U << random.below(8));
    if (damaged == frame.bytes) continue;
    REQUIRE_THROWS_AS(restore(*gpu, task.shape, damaged), ArchiveError);
  }
}

}  // namespace cuszi::test
