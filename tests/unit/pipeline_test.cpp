#include "core/pipeline/pipeline.hpp"

#include <algorithm>
#include <limits>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"

namespace cuszi::test {

namespace {

FrameTask task_for(const Dims& dims, DType dtype, PredictorId predictor, double bound) {
  FrameTask task;
  task.shape = {dtype, dims};
  task.config.predictor.id = predictor;
  task.bound = bound;
  return task;
}

FrameHeader header_of(const FrameTask& task, const std::vector<std::byte>& values) {
  return check_frame(*cpu::make_backend(), task, values).header;
}

constexpr PredictorId predictors[] = {PredictorId::lorenzo, PredictorId::interp};

/// A frame compressed from values that are overwritten as soon as they are dropped.
struct Forgotten {
  std::vector<std::byte> bytes;
  bool before_writing = false;  ///< the values were dropped before there was memory for the frame
};

Forgotten compress_and_forget(const FrameTask& task, std::vector<std::byte> values,
                              const ValueBound& bound) {
  Forgotten result;
  bool dropped = false;
  const auto overwrite = [&](std::vector<std::byte>* of_frame) {
    std::fill(of_frame->begin(), of_frame->end(), std::byte{0xFF});
    dropped = true;
  };
  std::unique_ptr<std::vector<std::byte>, decltype(overwrite)> owner(&values, overwrite);
  StepTimes times;
  const auto cpu = cpu::make_backend();
  LoadedFrame loaded =
      load_frame(*cpu, task.config, task.shape, {values, std::move(owner)}, task.fills, times);
  const Allocate allocate = [&](ByteCount size) {
    result.before_writing = dropped;
    result.bytes.resize(size);
    return MutableBytes(result.bytes);
  };
  compress_frame(*cpu, task.config, std::move(loaded), bound, {allocate}, times);
  CHECK(dropped);
  return result;
}

}  // namespace

TEST_CASE("a smooth field is coded") {
  const Dims dims{20, 30, 40};
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  for (const PredictorId predictor : predictors) {
    const FrameHeader header = header_of(task_for(dims, DType::f32, predictor, 1e-3), values);
    CHECK(header.kind == FrameKind::coded);
    CHECK(id_of(header.predictor.value()) == predictor);
    CHECK(header.levels.size() == 1);
    CHECK(header.min < header.max);
  }
}

TEST_CASE("a frame that is not loaded before has the same bytes") {
  const Dims dims{20, 30, 40};
  const auto cpu = cpu::make_backend();
  for (const FieldKind field : {FieldKind::smooth, FieldKind::constant, FieldKind::missing}) {
    const auto values = make_field(field, dims, DType::f32, 1);
    for (const PredictorId predictor : {PredictorId::tiles, PredictorId::lorenzo}) {
      FrameTask task = task_for(dims, DType::f32, predictor, 1e-3);
      task.mode = ErrorMode::absolute;
      CHECK(compress_at_once(*cpu, task, 1e-3, values).bytes ==
            compress(*cpu, task, values).frame.bytes);
    }
  }
}

TEST_CASE("what leaves nothing to lose is packed losslessly") {
  const Dims dims{10, 100};
  const auto kind_of = [&](FieldKind field, DType dtype, double bound) {
    const auto values = make_field(field, dims, dtype, 1);
    return header_of(task_for(dims, dtype, PredictorId::interp, bound), values).kind;
  };
  CHECK(kind_of(FieldKind::smooth, DType::f32, 0) == FrameKind::predicted);
  CHECK(kind_of(FieldKind::smooth, DType::f32, 1e-30) == FrameKind::predicted);
}

TEST_CASE("a frame of one value is that value") {
  const Dims dims{10, 100};
  for (const double bound : {0.0, 1e-3}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto values = make_field(FieldKind::constant, dims, dtype, 1);
      const FrameTask task = task_for(dims, dtype, PredictorId::interp, bound);
      const auto frame = check_frame(*cpu::make_backend(), task, values);
      CHECK(frame.header.kind == FrameKind::constant);
      CHECK(frame.header.payload_bytes() == size_of(dtype));
      CHECK(restore(*cpu::make_backend(), task.shape, frame.bytes) == values);
    }
  }
}

TEST_CASE("a large frame of next to nothing has the bytes that a reader asks for",
          "[unsanitized]") {
  const Dims dims{128, 128, 128};
  std::vector<double> field(dims.count());
  field[dims.count() / 3] = 1;
  const std::vector<std::byte> values = to_vector(bytes_of(field));
  FrameTask task = task_for(dims, DType::f64, PredictorId::multilevel, 1e-2);
  task.config.coder = CoderId::ans;
  const FrameHeader header = header_of(task, values);
  CHECK(header.kind == FrameKind::coded);
  CHECK(header.payload_bytes() == least_payload_bytes(values.size()));
}

TEST_CASE("a large frame's values are dropped when they have been predicted", "[unsanitized]") {
  const Dims dims{16, 256, 256};
  for (const FieldKind field : {FieldKind::missing, FieldKind::smooth}) {
    const auto values = make_field(field, dims, DType::f32, 1);
    FrameTask task = task_for(dims, DType::f32, PredictorId::multilevel, 1e-3);
    task.config.coder = CoderId::ans;
    task.config.predictor.multilevel.effort = Effort::fast;
    const BoundedFrame kept = compress(*cpu::make_backend(), task, values);
    const Forgotten forgotten = compress_and_forget(task, values, kept.bound);
    CHECK(forgotten.before_writing);
    CHECK(forgotten.bytes == kept.frame.bytes);
  }
}

TEST_CASE("values stay that may have to be packed losslessly", "[unsanitized]") {
  const Dims dims{16, 256, 256};
  const auto values = make_field(FieldKind::rough, dims, DType::f32, 1);
  for (const PredictorId predictor : {PredictorId::multilevel, PredictorId::lorenzo}) {
    FrameTask task = task_for(dims, DType::f32, predictor, 1e-3);
    task.config.coder = predictor == PredictorId::multilevel ? CoderId::ans : CoderId::huffman;
    task.config.predictor.multilevel.effort = Effort::fast;
    const double bound = predictor == PredictorId::multilevel ? 1e-9 : 1e-3;
    const Forgotten kept = compress_and_forget(task, values, bound);
    CHECK_FALSE(kept.before_writing);
    CHECK(kept.bytes.size() < values.size() + 512);
  }
}

TEST_CASE("a large frame of one value has the bytes that a reader asks for", "[unsanitized]") {
  const Dims dims{1100, 1000};
  const auto values = make_field(FieldKind::constant, dims, DType::f64, 1);
  const FrameTask task = task_for(dims, DType::f64, PredictorId::interp, 1e-3);
  const FrameHeader header = header_of(task, values);
  CHECK(header.kind == FrameKind::constant);
  CHECK(header.payload_bytes() == 9 * sizeof(double));  // at least 134 - 64
}

TEST_CASE("a frame of one value and of zeros of both signs is not the same") {
  std::vector<float> values(1000, 0.0F);
  const FrameTask task = task_for({1000}, DType::f32, PredictorId::interp, 1e-3);
  CHECK(header_of(task, to_vector(bytes_of(values))).kind == FrameKind::constant);
  values[999] = -0.0F;
  const auto frame = check_frame(*cpu::make_backend(), task, bytes_of(values));
  CHECK(frame.header.kind == FrameKind::lossless);
  CHECK(restore(*cpu::make_backend(), task.shape, frame.bytes) == to_vector(bytes_of(values)));
}

TEST_CASE("a frame of negative zeros is one of one value") {
  const std::vector<float> values(1000, -0.0F);
  const FrameTask task = task_for({1000}, DType::f32, PredictorId::interp, 1e-3);
  const auto frame = check_frame(*cpu::make_backend(), task, bytes_of(values));
  CHECK(frame.header.kind == FrameKind::constant);
  CHECK(restore(*cpu::make_backend(), task.shape, frame.bytes) == to_vector(bytes_of(values)));
}

TEST_CASE("a frame of fewer bytes than its table is stored though it has one value") {
  const std::vector<float> values(5, 1.0F);
  const FrameTask task = task_for({5}, DType::f32, PredictorId::interp, 1e-3);
  CHECK(header_of(task, to_vector(bytes_of(values))).kind == FrameKind::stored);
}

TEST_CASE("what cannot be packed is stored") {
  const Dims dims{100};
  const auto values = make_field(FieldKind::wide, dims, DType::f32, 1);
  const auto frame =
      check_frame(*cpu::make_backend(), task_for(dims, DType::f32, PredictorId::interp, 0), values);
  CHECK(frame.header.kind == FrameKind::stored);
  CHECK(frame.bytes.size() < values.size() + 100);
}

TEST_CASE("a range that overflows is no obstacle") {
  constexpr double largest = std::numeric_limits<double>::max();
  const std::vector<double> values{-largest, 0, 1, 2, largest};
  for (const PredictorId predictor : predictors) {
    const FrameTask task = task_for({5}, DType::f64, predictor, 1e-3);
    const FrameHeader header = header_of(task, to_vector(bytes_of(values)));
    CHECK(header.kind != FrameKind::coded);
    CHECK(header.max == largest);
  }
}

TEST_CASE("fields of nothing but missing values come back") {
  const std::vector<float> values(1000, std::numeric_limits<float>::quiet_NaN());
  for (const PredictorId predictor : predictors) {
    const FrameTask task = task_for({1000}, DType::f32, predictor, 1e-3);
    const auto frame = check_frame(*cpu::make_backend(), task, bytes_of(values));
    CHECK(frame.header.missing == 1000);
    CHECK(frame.header.kind == FrameKind::constant);
    CHECK(restore(*cpu::make_backend(), task.shape, frame.bytes) == to_vector(bytes_of(values)));
  }
}

TEST_CASE("missing values do not spoil their neighbours", "[unsanitized]") {
  const Dims dims{40, 50, 60};
  auto values = make_values<float>(FieldKind::smooth, dims, 1);
  for (const PredictorId predictor : predictors) {
    const FrameTask task = task_for(dims, DType::f32, predictor, 1e-3);
    const auto backend = cpu::make_backend();
    const auto whole = check_frame(*backend, task, bytes_of(values)).bytes.size();
    auto holes = values;
    for (std::size_t i = 0; i < holes.size(); i += 1000) {
      holes[i] = std::numeric_limits<float>::quiet_NaN();
    }
    const auto with_holes = check_frame(*backend, task, bytes_of(holes)).bytes.size();
    CHECK(with_holes < whole + whole / 10);
  }
}

TEST_CASE("restored values stay in the range of the original") {
  const Dims dims{30, 40};
  auto values = make_values<float>(FieldKind::rough, dims, 1);
  for (float& value : values) value = std::max(value, 0.0F);
  const auto backend = cpu::make_backend();
  for (const PredictorId predictor : predictors) {
    const FrameTask task = task_for(dims, DType::f32, predictor, 1e-1);
    const auto frame = compress(*backend, task, bytes_of(values)).frame;
    REQUIRE(frame.header.kind == FrameKind::coded);
    const auto restored = restore(*backend, task.shape, frame.bytes);
    const auto floats = values_of<float>(restored);
    CHECK(*std::min_element(floats.begin(), floats.end()) >= 0);
    CHECK(*std::max_element(floats.begin(), floats.end()) <=
          *std::max_element(values.begin(), values.end()));
  }
}

TEST_CASE("steps are timed under their names") {
  StepTimes times;
  CHECK(times.measure("one", [] { return 7; }) == 7);
  times.measure("two", [] {});
  times.measure("one", [] {});
  REQUIRE(times.steps().size() == 2);
  CHECK(times.steps()[0].name == "one");
  CHECK(times.steps()[1].seconds >= 0);
}

}  // namespace cuszi::test
