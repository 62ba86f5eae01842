#include <limits>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/gpu/device.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// A frame of tiles, coded without looking at it first, has the bytes that the CPU makes after
/// looking; and comes back as the same values.
void check_one_pass(Backend& gpu, const FrameTask& task, double bound, Bytes values) {
  const auto cpu = cpu::make_backend();
  INFO(task.shape.dims.to_string() << ' ' << name_of(task.shape.dtype) << ' ' << bound);
  FrameTask absolute = task;
  absolute.mode = ErrorMode::absolute;
  absolute.bound = bound;
  const CompressedFrame expected = compress(*cpu, absolute, values).frame;
  const CompressedFrame made = compress_at_once(gpu, task, bound, values);
  REQUIRE(made.bytes == expected.bytes);
  REQUIRE(made.patches == expected.patches);
  REQUIRE(made.header.min == expected.header.min);
  REQUIRE(made.header.max == expected.header.max);
  REQUIRE(compress_at_once(*cpu, task, bound, values).bytes == expected.bytes);
  REQUIRE(restore(gpu, task.shape, made.bytes) == restore(*cpu, task.shape, made.bytes));
}

template <class T>
FrameTask tiles_task(const Dims& dims) {
  FrameTask task;
  task.shape = {std::is_same_v<T, float> ? DType::f32 : DType::f64, dims};
  task.config.predictor.id = PredictorId::tiles;
  return task;
}

const std::vector<Dims> all_dims{
    {1},         {2},          {1023},       {5000},       {100000},      {1, 1},
    {31, 33},    {32, 64},     {100, 100},   {301, 444},   {3, 3, 3},     {8, 8, 16},
    {9, 10, 20}, {17, 23, 29}, {40, 40, 40}, {64, 64, 64}, {50, 70, 130}, {2, 9, 17, 33}};

template <class T>
void check_all_dims(Backend& gpu) {
  for (const Dims& dims : all_dims) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::rough, FieldKind::sparse, FieldKind::constant,
          FieldKind::missing, FieldKind::wide, FieldKind::ramp, FieldKind::steps}) {
      const std::vector<T> values = make_values<T>(kind, dims, 1);
      for (const double bound : {1e-1, 1e-3, 1e-5, 1e-8})
        check_one_pass(gpu, tiles_task<T>(dims), bound, bytes_of(values));
    }
  }
}

}  // namespace

TEST_CASE("tiles coded in one pass have the CPU's bytes", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  check_all_dims<float>(*gpu);
  check_all_dims<double>(*gpu);
}

TEST_CASE("one value in the middle sends a frame another way", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const Dims dims{60, 70, 80};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::nanf(""), infinity, -infinity, 3e38F, 1e6F, -1e4F, 100.F, -0.F}) {
    std::vector<float> values = make_values<float>(FieldKind::smooth, dims, 2);
    for (const std::size_t at : {values.size() / 2 + 17, std::size_t{0}, values.size() - 1}) {
      const float before = values[at];
      values[at] = odd;
      check_one_pass(*gpu, tiles_task<float>(dims), 1e-3, bytes_of(values));
      values[at] = before;
    }
  }
}

TEST_CASE("values far from zero are patched alike in one pass", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const Dims dims{33, 44, 55};
  for (const float offset : {100.F, 5000.F, 1e6F}) {
    std::vector<float> values = make_values<float>(FieldKind::rough, dims, 3);
    for (float& value : values) value += offset;
    for (const double bound : {1e-1, 1e-2, 1e-3, 1e-4})
      check_one_pass(*gpu, tiles_task<float>(dims), bound, bytes_of(values));
  }
}

TEST_CASE("what tiles in one pass cannot do is left to the other way", "[gpu][tiles]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const Dims dims{20, 30, 40};
  const std::vector<float> values = make_values<float>(FieldKind::filled, dims, 4);
  FrameTask task = tiles_task<float>(dims);
  task.fills.add(filled_value);
  check_one_pass(*gpu, task, 1e-3, bytes_of(values));
  check_one_pass(*gpu, tiles_task<float>(dims), 0, bytes_of(values));
  task.config.predictor.id = PredictorId::lorenzo;
  check_one_pass(*gpu, task, 1e-3, bytes_of(values));
}

}  // namespace cuszi::test
