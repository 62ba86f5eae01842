#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "codec/settings/presets.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "gpu/field/stored_values.hpp"
#include "gpu/runtime/copies.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

constexpr DType cast_types[] = {DType::f16, DType::bf16, DType::i8,  DType::u8,
                                DType::i16, DType::u16,  DType::i32, DType::u32};
constexpr Preset tried_presets[] = {fast_preset, balanced_preset, ratio_preset};

/// Memory of the device that begins `shift` bytes after an address that suits any access.
MutableBytes device_memory(Backend& gpu, std::size_t number, ByteCount size, ByteCount shift) {
  return gpu.transfer()->memory(number, size + shift).subspan(shift, size);
}

/// The archive and the values of the CPU, from and to memory of the host and of the device.
void check_alike(Backend& cpu, Backend& gpu, const FrameTask& task, Bytes values) {
  const auto compress_on = [&](Backend& backend, Bytes from) {
    if (task.mode != ErrorMode::absolute) return compress(backend, task, from).frame.bytes;
    return compress_at_once(backend, task, task.bound, from).bytes;
  };
  const std::vector<std::byte> expected = compress_on(cpu, values);
  const std::vector<std::byte> restored = restore(cpu, task.shape, expected);
  REQUIRE(compress_on(gpu, values) == expected);
  REQUIRE(restore(gpu, task.shape, expected) == restored);
  for (const ByteCount shift : {ByteCount{0}, size_of(task.shape.dtype)}) {
    const MutableBytes there = device_memory(gpu, 0, values.size(), shift);
    gpu.copy(values, there);
    REQUIRE(compress_on(gpu, there) == expected);
    const MutableBytes back = device_memory(gpu, 1, values.size(), shift);
    StepTimes times;
    decompress_frame(gpu, task.shape, expected, back, times);
    std::vector<std::byte> host(back.size());
    gpu.copy(back, host);
    REQUIRE(host == restored);
  }
}

/// NaN of any payload, infinities, zeros and subnormals among halves.
void add_strange_halves(Random& random, DType dtype, std::span<std::byte> values) {
  if (is_integer(dtype)) return;
  for (std::size_t at = 0; at < values.size(); at += 2) {
    if (!random.one_in(40)) continue;
    const auto bits = static_cast<std::uint16_t>(random.next());
    std::memcpy(values.data() + at, &bits, 2);
  }
}

void check_type(Backend& cpu, Backend& gpu, const Dims& dims, DType dtype, Random& random) {
  const double most = is_integer(dtype) ? nearest_stored(dtype, 1e30) : 1;
  for (const Preset& preset : tried_presets) {
    for (const FieldKind kind : {FieldKind::smooth, FieldKind::rough, FieldKind::wide,
                                 FieldKind::constant, FieldKind::steps}) {
      for (const ErrorMode mode :
           {ErrorMode::absolute, ErrorMode::relative, ErrorMode::pointwise}) {
        FrameTask task;
        task.shape = {dtype, dims};
        apply(preset, task.config);
        task.mode = mode;
        task.bound = random.pick({0.2, 1e-2, 1e-3, 1e-5});
        if (mode == ErrorMode::absolute) task.bound *= most;
        std::vector<std::byte> values = make_field(kind, dims, dtype, random.next());
        if (random.one_in(4)) add_strange_halves(random, dtype, values);
        if (random.one_in(8)) task.fills.add(0);
        INFO(name_of(dtype) << ' ' << dims.to_string() << " predictor "
                            << static_cast<int>(preset.predictor.id) << " kind "
                            << static_cast<int>(kind) << " mode " << static_cast<int>(mode)
                            << " bound " << task.bound);
        check_alike(cpu, gpu, task, values);
      }
    }
  }
}

/// All bits of up to 16, else random ones.
std::vector<std::byte> all_bits(DType dtype, Random& random) {
  std::vector<std::byte> values((std::size_t{65536} + 3) * size_of(dtype));
  for (std::size_t i = 0; i < 65536 + 3; ++i) {
    const std::uint64_t bits = size_of(dtype) <= 2 ? i : random.next();
    std::memcpy(values.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return values;
}

/// Values of any magnitude, halves between integers, infinities and NaN.
template <class T>
std::vector<T> any_values(Random& random) {
  std::vector<T> values(100'003);
  for (T& value : values) {
    value = std::bit_cast<T>(static_cast<BitsOf<T>>(random.next()));
    if (random.one_in(2)) value = static_cast<T>(random.uniform() * 1e5 - 2e4);
    if (random.one_in(4)) value = std::floor(value) + T(0.5);
  }
  return values;
}

std::vector<std::byte> on_host(gpu::DeviceContext& gpu, Bytes there) {
  const std::byte* const host = gpu::download(gpu, there.data(), there.size());
  gpu.sync();
  return {host, host + there.size()};
}

}  // namespace

TEST_CASE("frames of every type have the CPU's archives and values", "[gpu][types]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(61);
  for (const Dims& dims : {Dims{20'000}, Dims{5003}, Dims{100, 204}, Dims{31, 33}, Dims{33, 20, 36},
                           Dims{17, 23, 29}, Dims{2, 9, 17, 32}, Dims{1}}) {
    for (const DType dtype : cast_types) check_type(*cpu, *gpu, dims, dtype, random);
  }
}

TEST_CASE("frames of a few types, for memory and race checkers", "[gpu][.checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(62);
  for (const DType dtype : {DType::f16, DType::i32})
    check_type(*cpu, *gpu, Dims{9, 10, 20}, dtype, random);
}

TEST_CASE("values are converted on the device as on the host", "[gpu][types]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(63);
  for (const DType dtype : cast_types) {
    INFO(name_of(dtype));
    const std::vector<std::byte> stored = all_bits(dtype, random);
    const std::size_t count = stored.size() / size_of(dtype);
    gpu.reset();
    const Bytes there(gpu::upload(gpu, stored.data(), stored.size()), stored.size());
    for (const std::size_t skipped : {0U, 1U}) {  // then not by four
      const Bytes some = there.subspan(skipped * size_of(dtype));
      std::vector<std::byte> expected((count - skipped) * size_of(work_of(dtype)));
      to_work(dtype, Bytes(stored).subspan(skipped * size_of(dtype)), expected);
      REQUIRE(on_host(gpu, gpu::to_work(gpu, dtype, some)) == expected);
    }
    if (size_of(dtype) <= 2) {
      DistinctValues expected;
      const Bytes some = Bytes(stored).first(stored.size() / 2);
      expected.add(dtype, some);
      REQUIRE(gpu::distinct_values(gpu, dtype, there.first(some.size())).bits == expected.bits);
    }
    with_type_of(work_of(dtype), [&](auto zero) {
      const auto values = any_values<decltype(zero)>(random);
      const Bytes work = bytes_of(values);
      std::vector<std::byte> expected(values.size() * size_of(dtype));
      from_work(dtype, work, expected);
      const MutableBytes out(gpu.take<std::byte>(expected.size()), expected.size());
      gpu::from_work(gpu, dtype, Bytes(gpu::upload(gpu, work.data(), work.size()), work.size()),
                     out);
      REQUIRE(on_host(gpu, out) == expected);
    });
  }
}

}  // namespace cuszi::test
