#include "cpu_ref/session/cpu_backend.hpp"
#include "cuszi/gpu.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

/// The device's backend if it can pack; none without a device or without nvCOMP.
Backend* packing_device() {
  Backend* const backend = device();
  if (backend == nullptr) return nullptr;
  try {
    gpu::require_bitcomp();
  } catch (const DeviceError& e) {
    WARN("the test is skipped: " << e.what());
    return nullptr;
  }
  return backend;
}

FrameTask task_of(const Dims& dims, DType dtype, PredictorId predictor, double bound,
                  Lossless lossless) {
  FrameTask task;
  task.shape = {dtype, dims};
  task.config.predictor.id = predictor;
  task.config.lossless = lossless;
  task.bound = bound;
  return task;
}

/// Compresses a field with and without the second pass; both must restore to the same values.
/// Returns how much smaller the pass made the frame.
ByteCount check_packing(Backend& gpu, const Dims& dims, DType dtype, PredictorId predictor,
                        double bound) {
  const auto values = make_field(FieldKind::smooth, dims, dtype, 1);
  const FrameTask plain = task_of(dims, dtype, predictor, bound, Lossless::none);
  const FrameTask packing = task_of(dims, dtype, predictor, bound, Lossless::bitcomp);
  const auto frame = compress(gpu, plain, values).frame.bytes;
  const auto packed = compress(gpu, packing, values).frame;
  REQUIRE(packed.bytes.size() <= frame.size());
  REQUIRE(packed.header.is_packed() == (packed.bytes.size() < frame.size()));
  REQUIRE(restore(gpu, packing.shape, packed.bytes) == restore(gpu, plain.shape, frame));
  return frame.size() - packed.bytes.size();
}

}  // namespace

TEST_CASE("packed frames are smaller and restore to the same values", "[gpu]") {
  Backend* const gpu = packing_device();
  if (gpu == nullptr) return;
  int packed = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const PredictorId predictor : {PredictorId::lorenzo, PredictorId::interp}) {
      for (const double bound : {1e-1, 1e-2, 1e-3, 1e-5}) {
        for (const Dims& dims : {Dims{5}, Dims{100'003}, Dims{301, 400}, Dims{64, 80, 100}}) {
          INFO(dims.to_string() << " at " << bound);
          packed += check_packing(*gpu, dims, dtype, predictor, bound) > 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(packed > 20);
}

TEST_CASE("what is packed on the GPU is refused by the CPU, and its damage by both", "[gpu]") {
  Backend* const gpu = packing_device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const Dims dims{40, 50, 60};
  const FrameTask task = task_of(dims, DType::f32, PredictorId::interp, 1e-1, Lossless::bitcomp);
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 2);
  const CompressedFrame frame = compress(*gpu, task, values).frame;
  REQUIRE(frame.header.is_packed());
  REQUIRE_NOTHROW(restore(*gpu, task.shape, frame.bytes));
  REQUIRE_THROWS_AS(restore(*cpu, task.shape, frame.bytes), DeviceError);
  REQUIRE_THROWS_AS(compress(*cpu, task, values), DeviceError);
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::byte> bytes = frame.bytes;
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    REQUIRE_THROWS_AS(restore(*gpu, task.shape, bytes), ArchiveError);
    REQUIRE_THROWS_AS(restore(*cpu, task.shape, bytes), ArchiveError);
  }
}

}  // namespace cuszi::test
