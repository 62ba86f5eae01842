#include <cmath>
#include <limits>

#include "codec/settings/presets.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"
#include "tests/support/wide_values.hpp"

namespace cuszi::test {

namespace {

FrameTask pointwise_task(const FrameShape& shape, double share) {
  FrameTask task;
  task.shape = shape;
  task.mode = ErrorMode::pointwise;
  task.bound = share;
  return task;
}

/// Sets values to NaN, an infinity or the fill value 1e20.
template <class T>
void punch(std::vector<T>& values, Random& random) {
  using Limits = std::numeric_limits<T>;
  for (T& value : values) {
    if (random.one_in(30)) {
      value = random.pick({Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T(1e20)});
    }
  }
}

void require_same(EncodeSession& expected, EncodeSession& made) {
  REQUIRE(made.scan().min == expected.scan().min);
  REQUIRE(made.scan().max == expected.scan().max);
  REQUIRE(made.scan().missing == expected.scan().missing);
  REQUIRE((made.mask() == expected.mask()));
}

/// The ranges, masks and signs are the same before and after the transform.
void check_steps(Backend& cpu, Backend& gpu, const FrameTask& task, Bytes values) {
  StepTimes times;
  const auto load = [&](Backend& backend) {
    return load_frame(backend, task.config, task.shape, values, task.fills, times);
  };
  const LoadedFrame expected = load(cpu);
  const LoadedFrame made = load(gpu);
  require_same(*expected.session, *made.session);
  const MagnitudeRange sample = expected.session->sampled_magnitudes();
  REQUIRE(made.session->sampled_magnitudes() == sample);
  const ValueBound bound = bound_of(task, 0);
  const TransformChoice choice = choose_transform(bound, task.shape.dtype, sample, false);
  if (choice.bound == 0) return;
  expected.session->transform(choice, bound);
  made.session->transform(choice, bound);
  require_same(*expected.session, *made.session);
  const Bytes signs = made.session->encode_signs();
  std::vector<std::byte> of_gpu(signs.size());
  gpu.copy(signs, of_gpu);
  REQUIRE(to_vector(expected.session->encode_signs()) == of_gpu);
}

/// Both backends make the same bytes, and restore each other's to the same values.
void check_frames(Backend& cpu, Backend& gpu, const FrameTask& task, Bytes values) {
  const CompressedFrame expected = compress(cpu, task, values).frame;
  const CompressedFrame made = compress(gpu, task, values).frame;
  REQUIRE(made.header.transform.has_value() == expected.header.transform.has_value());
  REQUIRE(made.bytes == expected.bytes);
  REQUIRE(restore(gpu, task.shape, expected.bytes) == restore(cpu, task.shape, made.bytes));
}

/// By all presets that transform.
void check_presets(Backend& cpu, Backend& gpu, FrameTask& task, Bytes values) {
  for (const Preset& preset : presets) {
    if (preset.predictor.id == PredictorId::zfp) continue;
    INFO("preset of " << name_of(preset.predictor.id));
    apply(preset, task.config);
    check_frames(cpu, gpu, task, values);
  }
}

template <class T>
void check_all(Backend& gpu, const Dims& dims, std::uint64_t seed) {
  const auto cpu = cpu::make_backend();
  for (const Signs signs : {Signs::mixed, Signs::positive, Signs::negative}) {
    for (const bool masked : {false, true}) {
      std::vector<T> values = wide_values<T>(dims.count(), signs, seed);
      Random random(seed);
      if (masked) punch(values, random);
      for (const double share : {0.5, 1e-2, 1e-4, 1e-9}) {
        FrameTask task = pointwise_task({dtype_of<T>, dims}, share);
        if (masked) task.fills.add(1e20);
        INFO(dims.to_string() << ' ' << name_of(dtype_of<T>) << " signs " << static_cast<int>(signs)
                              << " masked " << masked << " share " << share);
        check_steps(*cpu, gpu, task, bytes_of(values));
        check_presets(*cpu, gpu, task, bytes_of(values));
      }
    }
  }
}

/// The larger and the smaller of two bounds, with knees among the values and far out.
template <class T>
void check_two_bounds(Backend& gpu, const Dims& dims, std::uint64_t seed) {
  const auto cpu = cpu::make_backend();
  for (const bool masked : {false, true}) {
    std::vector<T> values = wide_values<T>(dims.count(), Signs::mixed, seed);
    Random random(seed);
    if (masked) punch(values, random);
    for (const ErrorMode mode :
         {ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise}) {
      for (const double share : {0.5, 1e-3}) {
        for (const double knee : {1.0, 1e-30, 1e30, 1e-41}) {
          FrameTask task = pointwise_task({dtype_of<T>, dims}, share * knee);
          task.mode = mode;
          task.share = share;
          if (masked) task.fills.add(1e20);
          INFO(dims.to_string() << ' ' << name_of(dtype_of<T>) << " masked " << masked << " mode "
                                << static_cast<int>(mode) << " share " << share << " knee "
                                << knee);
          check_steps(*cpu, gpu, task, bytes_of(values));
          check_presets(*cpu, gpu, task, bytes_of(values));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("bounds that are a share of each value give the same on both backends",
          "[gpu][transform]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : {Dims{1}, Dims{31}, Dims{65, 33}, Dims{40, 41, 50}, Dims{3, 9, 20, 31}}) {
    check_all<float>(*gpu, dims, 1);
    check_all<double>(*gpu, dims, 2);
  }
}

namespace {

/// Magnitudes from 2^-octaves to 2^octaves, none of them 0, in waves; signs in patches.
template <class T>
std::vector<T> waves_of_logs(const Dims& dims, double octaves, Signs signs) {
  std::vector<T> values(dims.count());
  const Extents3 e = dims.as_3d();
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const Extents3 at = coordinates_of(i, e);
    const double phase = 0.11 * static_cast<double>(at[0]) + 0.07 * static_cast<double>(at[1]) +
                         0.05 * static_cast<double>(at[2]);
    const double magnitude = std::exp2(octaves * std::sin(phase) * std::cos(3.3 * phase));
    const bool is_negative =
        signs == Signs::negative || (signs == Signs::mixed && std::sin(0.7 * phase) < 0.2);
    values[i] = static_cast<T>(is_negative ? -magnitude : magnitude);
  }
  return values;
}

/// The same of frames that are not scanned first.
void check_unscanned(Backend& cpu, Backend& gpu, const FrameTask& task, Bytes values) {
  const ValueBound bound = bound_of(task, 0);
  const CompressedFrame expected = compress_at_once(cpu, task, bound, values);
  const CompressedFrame made = compress_at_once(gpu, task, bound, values);
  REQUIRE(made.header.transform.has_value());
  REQUIRE(made.bytes == expected.bytes);
  REQUIRE(restore(gpu, task.shape, expected.bytes) == restore(cpu, task.shape, made.bytes));
}

/// By tiles, which are coded while their values are read for the first time, unless one of these
/// is 0.
template <class T>
void check_logs(Backend& gpu, const Dims& dims) {
  const auto cpu = cpu::make_backend();
  for (const Signs signs : {Signs::mixed, Signs::positive, Signs::negative}) {
    for (const double octaves : {1.0, 30.0, 120.0}) {
      for (const double share : {0.1, 1e-3, 1e-5}) {
        FrameTask task = pointwise_task({dtype_of<T>, dims}, share);
        task.config.predictor.id = PredictorId::tiles;
        std::vector<T> values = waves_of_logs<T>(dims, octaves, signs);
        INFO(dims.to_string() << ' ' << name_of(dtype_of<T>) << " signs " << static_cast<int>(signs)
                              << " octaves " << octaves << " share " << share);
        check_unscanned(*cpu, gpu, task, bytes_of(values));
        values[values.size() / 2] = 0;
        check_unscanned(*cpu, gpu, task, bytes_of(values));
      }
    }
  }
}

}  // namespace

TEST_CASE("tiles of logarithms are the same on both backends", "[gpu][transform]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : {Dims{5000}, Dims{65, 33}, Dims{100, 64}, Dims{40, 41, 50},
                           Dims{33, 40, 48}, Dims{128, 128, 128}}) {
    check_logs<float>(*gpu, dims);
    check_logs<double>(*gpu, dims);
  }
}

TEST_CASE("two bounds give the same on both backends", "[gpu][transform]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : {Dims{31}, Dims{65, 33}, Dims{40, 41, 50}}) {
    check_two_bounds<float>(*gpu, dims, 1);
    check_two_bounds<double>(*gpu, dims, 2);
  }
}

TEST_CASE("a large frame under a share of each value has the same bytes", "[gpu][transform]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const Dims dims{120, 130, 140};
  const std::vector<float> values = wide_values<float>(dims.count(), Signs::mixed, 3);
  for (const Preset& preset : presets) {
    if (preset.predictor.id == PredictorId::zfp) continue;
    FrameTask task = pointwise_task({DType::f32, dims}, 1e-3);
    apply(preset, task.config);
    check_frames(*cpu, *gpu, task, bytes_of(values));
  }
}

}  // namespace cuszi::test
