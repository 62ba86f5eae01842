#include <exception>
#include <thread>

#include "cpu_ref/session/cpu_backend.hpp"
#include "cuszi/gpu.hpp"
#include "test_data/fields.hpp"
#include "tests/gpu/device.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/compare_steps.hpp"

namespace cuszi::test {

namespace {

/// What became of a frame: its bytes, or the error's message.
struct Outcome {
  std::vector<std::byte> bytes;
  std::string error;
};

template <class Work>
Outcome outcome_of(const Work& work) {
  try {
    return {work(), {}};
  } catch (const UsageError& e) {
    return {{}, e.what()};
  }
}

void check_equality(Backend& cpu, Backend& gpu, const RandomFrame& frame) {
  INFO(frame.to_string());
  const std::vector<std::byte> values = frame.values();
  const auto compress_on = [&](Backend& backend) {
    return outcome_of([&] { return compress(backend, frame.task, values).frame.bytes; });
  };
  const Outcome expected = compress_on(cpu);
  const Outcome made = compress_on(gpu);
  REQUIRE(made.error == expected.error);
  if (!expected.error.empty()) return;
  REQUIRE(made.bytes.size() == expected.bytes.size());
  REQUIRE(made.bytes == expected.bytes);
  const auto restored = restore(gpu, frame.task.shape, made.bytes);
  REQUIRE(restored == restore(cpu, frame.task.shape, made.bytes));
}

void check_frames(std::uint64_t seed, int frames, std::uint64_t min_points,
                  std::uint64_t max_points) {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    check_equality(*cpu, *gpu, random_frame(random, min_points, max_points));
  }
}

void check_constant_frames(std::uint64_t seed, int frames, std::uint64_t max_points) {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    check_equality(*cpu, *gpu, random_constant_frame(random, 1, max_points));
  }
}

}  // namespace

TEST_CASE("every step of a frame gives the same on both backends", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    RandomFrame frame = random_frame(random, 1, 100'000);
    if (has_own_coder(frame.task.config.predictor.id)) continue;  // in one step
    frame.task.config.huffman.width = HuffmanWidth::automatic;    // so that every book fits
    INFO(frame.to_string());
    compare_steps(*cpu, *gpu, frame.task, frame.values());
  }
}

TEST_CASE("small frames have the same bytes and values on both backends", "[gpu][small]") {
  check_frames(1, 1500, 1, 3000);
}

TEST_CASE("frames have the same bytes and values on both backends", "[gpu]") {
  check_frames(2, 400, 3000, 300000);
}

TEST_CASE("frames of several blocks of points have the same bytes on both backends", "[gpu]") {
  check_frames(3, 40, 300000, 4000000);
}

TEST_CASE("frames of one value have the same bytes and values on both backends", "[gpu]") {
  check_constant_frames(8, 400, 20'000);
  check_constant_frames(9, 20, 3'000'000);
}

TEST_CASE("a handful of small frames, for memory and race checkers", "[gpu][.checker]") {
  check_frames(4, 60, 1, 2000);
  check_constant_frames(10, 30, 2000);
}

TEST_CASE("no merge factor or unit of the encoder changes a byte", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    RandomFrame frame = random_frame(random, 1000, 200000);
    frame.task.config.huffman.width = HuffmanWidth::automatic;
    INFO(frame.to_string());
    const std::vector<std::byte> values = frame.values();
    const std::vector<std::byte> expected = compress(*gpu, frame.task, values).frame.bytes;
    frame.task.config.huffman.merge = static_cast<int>(random.below(5));
    frame.task.config.huffman.width = random.pick({HuffmanWidth::automatic, HuffmanWidth::u64});
    REQUIRE(compress(*gpu, frame.task, values).frame.bytes == expected);
  }
}

TEST_CASE("damaged frames are refused by the GPU", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const RandomFrame frame = random_frame(random, 1000, 20000);
    INFO(frame.to_string());
    const Outcome made =
        outcome_of([&] { return compress(*cpu, frame.task, frame.values()).frame.bytes; });
    if (made.bytes.empty()) continue;
    std::vector<std::byte> bytes = made.bytes;
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    REQUIRE_THROWS_AS(restore(*gpu, frame.task.shape, bytes), ArchiveError);
  }
}

TEST_CASE("a backend that ran out of device memory can be used again", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  FrameTask task;
  task.shape = {DType::f32, Dims{std::uint64_t{1} << 40}};
  const std::vector<std::byte> values(4096);
  const Bytes claimed(values.data(), task.shape.bytes());
  StepTimes times;
  REQUIRE_THROWS_AS(load_frame(*gpu, task.config, task.shape, claimed, {}, times), DeviceError);
  Random random(6);
  const auto cpu = cpu::make_backend();
  check_equality(*cpu, *gpu, random_frame(random, 3000, 30000));
}

TEST_CASE("a fill value within the range is patched around in the same way", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(12);
  for (int i = 0; i < 100; ++i) {
    RandomFrame frame = random_frame(random, 3000, 100000);
    frame.task.fills = {};
    for (const double fill : {0.0, 0.25, -1.0}) frame.task.fills.add(fill);
    check_equality(*cpu, *gpu, frame);
  }
}

TEST_CASE("another thread than the one that made it can use a backend", "[gpu]") {
  if (device() == nullptr) return;
  const auto cpu = cpu::make_backend();
  const auto gpu = gpu::make_backend(gpu::device_count() - 1);
  Random random(13);
  const RandomFrame frame = random_frame(random, 3000, 100000);
  std::exception_ptr failure;
  std::thread([&] {
    try {
      check_equality(*cpu, *gpu, frame);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

TEST_CASE("a preview goes to the device's memory", "[gpu]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  FrameTask task;
  task.shape = {DType::f32, {20, 30, 40}};
  const auto values = make_field(FieldKind::smooth, task.shape.dims, DType::f32, 1);
  for (const CoderId coder : {CoderId::huffman, CoderId::ans}) {
    task.config.predictor.id =
        coder == CoderId::ans ? PredictorId::multilevel : PredictorId::lorenzo;
    task.config.coder = coder;
    const CompressedFrame frame = compress(*cpu, task, values).frame;
    const Bytes payload = Bytes(frame.bytes).last(frame.header.payload_bytes());
    for (const std::uint64_t stride : {2U, 4U, 8U, 16U}) {
      const Selection some{task.shape.dims, {}, {stride, stride, stride, 1}};
      const auto preview = FramePreview::of(task.shape.dims, frame.header, some);
      StepTimes times;
      std::vector<std::byte> expected(some.points() * sizeof(float));
      decompress_frame(*cpu, task.shape, frame.header, preview, payload, expected, times);
      const MutableBytes shown = gpu->transfer()->memory(0, expected.size());
      decompress_frame(*gpu, task.shape, frame.header, preview, payload, shown, times);
      std::vector<std::byte> arrived(expected.size());
      gpu->copy(shown, arrived);
      INFO("stride " << stride);
      REQUIRE(arrived == expected);
    }
  }
}

}  // namespace cuszi::test
