#include <cmath>
#include <cstring>

#include "codec/settings/presets.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"
#include "tests/support/local_bounds.hpp"

namespace cuszi::test {

namespace {

constexpr DType cast_types[] = {DType::f16, DType::bf16, DType::i8,  DType::u8,
                                DType::i16, DType::u16,  DType::i32, DType::u32};
constexpr ErrorMode modes[] = {ErrorMode::relative, ErrorMode::absolute, ErrorMode::pointwise,
                               ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise};

/// Waves of a random height and level, with noise, in the type's range; now and then values at its
/// ends.
std::vector<std::byte> random_values(Random& random, const FrameShape& shape) {
  const double most = nearest_stored(shape.dtype, 1e30);
  const double usual = is_integer(shape.dtype) ? most : std::min(most, 1e4);
  const double height = usual * std::pow(2, -random.uniform() * 12);
  const double level = random.one_in(2) ? 0 : usual * random.uniform() / 2;
  const double noise = random.one_in(3) ? 0 : height * std::pow(2, -random.uniform() * 10);
  const double length = 3 + 40 * random.uniform();
  const bool has_ends = random.one_in(4);
  std::vector<double> values;
  for (std::uint64_t i = 0; i < shape.points(); ++i) {
    double value = level + height * std::sin(static_cast<double>(i) / length);
    value += noise * (random.uniform() - 0.5);
    if (has_ends && random.one_in(50)) value = random.one_in(2) ? 1e30 : -1e30;
    if (random.one_in(100)) value = 0;
    values.push_back(value);
  }
  std::vector<std::byte> stored(shape.bytes());
  const std::vector<float> narrow(values.begin(), values.end());
  const bool is_narrow = work_of(shape.dtype) == DType::f32;
  from_work(shape.dtype,
            is_narrow ? std::as_bytes(std::span(narrow)) : std::as_bytes(std::span(values)),
            stored);
  return stored;
}

/// NaN of any payload, infinities, zeros and subnormals among halves.
void add_strange_halves(Random& random, const FrameShape& shape, std::span<std::byte> values) {
  if (is_integer(shape.dtype)) return;
  constexpr std::uint16_t strange[] = {0x7C01, 0xFE00, 0x7F81, 0xFFC1, 0x7C00, 0xFC00, 0x7F80,
                                       0xFF80, 0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x03FF};
  for (std::uint64_t i = 0; i < shape.points(); ++i) {
    if (!random.one_in(40)) continue;
    const std::uint16_t bits = random.pick(strange);
    std::memcpy(values.data() + 2 * i, &bits, 2);
  }
}

FrameTask random_task(Random& random, DType dtype, const Preset& preset, ErrorMode mode) {
  FrameTask task;
  const Dims dims[] = {Dims{1 + random.below(900)},
                       Dims{1 + random.below(40), 1 + random.below(60)},
                       Dims{1 + random.below(20), 1 + random.below(20), 1 + random.below(20)}};
  task.shape = {dtype, random.pick(dims)};
  apply(preset, task.config);
  task.mode = mode;
  const bool is_absolute = mode == ErrorMode::absolute || mode >= ErrorMode::absolute_or_pointwise;
  const double most = is_integer(dtype) ? nearest_stored(dtype, 1e30) : 100;
  task.bound = is_absolute ? most * std::pow(2, -random.uniform() * 16) : 0.2 * random.uniform();
  if (random.one_in(5) && is_absolute) task.bound = std::floor(task.bound) + 0.5;
  task.share = 0.2 * random.uniform();
  return task;
}

}  // namespace

TEST_CASE("frames of every type, preset and mode keep their bounds in the stored type") {
  const auto backend = cpu::make_backend();
  Random random(52);
  std::array<int, static_cast<std::size_t>(FrameKind::tiled) + 1> kinds{};
  for (int round = 0; round < some_of(12) + 1; ++round) {
    for (const DType dtype : cast_types) {
      for (const Preset& preset : presets) {
        for (const ErrorMode mode : modes) {
          FrameTask task = random_task(random, dtype, preset, mode);
          std::vector<std::byte> values = random_values(random, task.shape);
          if (random.one_in(3)) add_strange_halves(random, task.shape, values);
          if (random.one_in(4)) task.fills.add(nearest_stored(dtype, 20 * random.uniform()));
          const bool has_isovalue = mode <= ErrorMode::absolute && random.one_in(4);
          if (has_isovalue) task.config.isovalues.add(50 * random.uniform());
          INFO(name_of(dtype) << ' ' << task.shape.dims.to_string() << " predictor "
                              << static_cast<int>(preset.predictor.id) << " mode "
                              << static_cast<int>(mode) << " bound " << task.bound << " share "
                              << task.share << " round " << round);
          const CompressedFrame frame = check_frame_twice(*backend, task, values);
          ++kinds.at(static_cast<std::size_t>(frame.header.kind));
        }
      }
    }
  }
  CHECK(kinds[static_cast<std::size_t>(FrameKind::coded)] > expected_of(300));
}

TEST_CASE("local bounds hold in the stored type") {
  const auto backend = cpu::make_backend();
  Random random(53);
  for (int i = 0; i < some_of(200); ++i) {
    FrameTask task =
        random_task(random, random.pick(cast_types),
                    random.one_in(2) ? ratio_preset : balanced_preset, ErrorMode::absolute);
    task.config.predictor.automatic = false;
    const Dims& dims = task.shape.dims;
    const BoundRegion region = random_region(dims, task.bound, random);
    task.places.regions.push_back(region);
    INFO(i << ' ' << name_of(task.shape.dtype) << ' ' << dims.to_string() << " bound " << task.bound
           << " region " << region.bound);
    check_frame_twice(*backend, task, random_values(random, task.shape));
  }
}

TEST_CASE("points of regions of bound 0 keep their bits in every type") {
  const auto backend = cpu::make_backend();
  Random random(54);
  for (int i = 0; i < some_of(400); ++i) {
    FrameTask task =
        random_task(random, random.pick(cast_types),
                    random.one_in(2) ? ratio_preset : balanced_preset, ErrorMode::absolute);
    task.config.predictor.automatic = false;
    std::vector<std::byte> values = random_values(random, task.shape);
    if (random.one_in(3)) add_strange_halves(random, task.shape, values);
    const Dims& dims = task.shape.dims;
    for (std::uint64_t more = random.below(3); more != 0; --more) {
      task.places.regions.push_back(random_region(dims, task.bound, random));
    }
    BoundRegion exact = random_region(dims, task.bound, random);
    exact.bound = 0;
    task.places.regions.push_back(exact);
    INFO(i << ' ' << name_of(task.shape.dtype) << ' ' << dims.to_string() << " bound " << task.bound
           << " predictor " << name_of(task.config.predictor.id));
    const CompressedFrame frame = check_frame_twice(*backend, task, values);
    const auto restored = restore(*backend, task.shape, frame.bytes);
    const ByteCount size = size_of(task.shape.dtype);
    for_each_point(
        Selection{dims, exact.box.first, {1, 1, 1, 1}, exact.box.end}, [&](std::uint64_t point) {
          REQUIRE(std::memcmp(&values[point * size], &restored[point * size], size) == 0);
        });
  }
}

}  // namespace cuszi::test
