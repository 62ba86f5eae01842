#include "core/signs/signs.hpp"

#include <cmath>

#include "codec/settings/presets.hpp"
#include "core/archive/preview.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

enum class SignKind { waves, rough_waves, clustered, rare, random, alike };

constexpr SignKind sign_kinds[] = {SignKind::waves, SignKind::rough_waves, SignKind::clustered,
                                   SignKind::rare,  SignKind::random,      SignKind::alike};

/// Values between 1 and 2 in magnitude, some negative.
std::vector<float> signed_values(SignKind kind, const Dims& dims, std::uint64_t seed) {
  Random random(seed);
  const Extents3 e = dims.as_3d();
  std::vector<float> values(dims.count());
  bool sign = false;
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const Extents3 at = coordinates_of(i, e);
    const double wave =
        std::sin(0.11 * static_cast<double>(at[2]) + 0.07 * static_cast<double>(at[1])) *
            std::cos(0.05 * static_cast<double>(at[0])) -
        0.1;
    switch (kind) {
      case SignKind::waves: sign = wave < 0; break;
      case SignKind::rough_waves: sign = wave + 0.3 * random.uniform() < 0.1; break;
      case SignKind::clustered: sign ^= random.one_in(20); break;
      case SignKind::rare: sign = random.one_in(5000); break;
      case SignKind::random: sign = random.one_in(2); break;
      case SignKind::alike: sign = i == 0; break;
    }
    const auto magnitude = static_cast<float>(1 + random.uniform());
    values[i] = sign ? -magnitude : magnitude;
  }
  return values;
}

std::vector<std::uint64_t> sign_words(const std::vector<float>& values) {
  std::vector<std::uint64_t> words(ceil_div(values.size(), 64));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0) words[i / 64] |= std::uint64_t{1} << (i % 64);
  return words;
}

FrameTask sign_task(const Dims& dims) {
  FrameTask task;
  task.shape = {DType::f32, dims};
  task.mode = ErrorMode::pointwise;
  task.bound = 0.1;
  apply(balanced_preset, task.config);
  return task;
}

std::vector<std::byte> encoded_signs_on(Backend& backend, const FrameTask& task, Bytes values) {
  StepTimes times;
  const LoadedFrame frame = load_frame(backend, task.config, task.shape, values, {}, times);
  const ValueBound bound = bound_of(task, 0);
  frame.session->transform(
      choose_transform(bound, task.shape.dtype, frame.session->sampled_magnitudes(), false), bound);
  const Bytes section = frame.session->encode_signs();
  std::vector<std::byte> host(section.size());
  backend.copy(section, host);
  return host;
}

std::vector<std::uint64_t> decoded_signs_on(Backend& backend, Bytes section,
                                            const Selection& points) {
  const auto session = backend.decode(section);
  const auto signs = session->decode_signs(session->payload(), points.from, points);
  std::vector<std::uint64_t> host(signs.size());
  backend.copy(std::as_bytes(signs), std::as_writable_bytes(std::span(host)));
  return host;
}

void check_signs(Backend& gpu, const Dims& dims, SignKind kind) {
  INFO(dims.to_string() << " signs " << static_cast<int>(kind));
  const std::vector<float> values = signed_values(kind, dims, 1);
  const std::vector<std::uint64_t> words = sign_words(values);
  const std::vector<std::byte> expected = encode_signs(words, dims, one_by_one);
  CHECK(encoded_signs_on(gpu, sign_task(dims), bytes_of(values)) == expected);
  CHECK(decoded_signs_on(gpu, expected, Selection{dims}) == words);
}

/// A frame with some bytes of its signs, its first section, changed.
std::vector<std::byte> damaged_signs(const CompressedFrame& frame, Random& random) {
  const SectionEntry& signs = frame.header.levels.front().sections.front();
  REQUIRE(signs.id == SectionId::signs);
  std::vector<std::byte> payload = to_vector(payload_of(frame));
  for (std::uint64_t more = 1 + random.below(3); more != 0; --more)
    payload[random.below(signs.size)] ^= static_cast<std::byte>(1 + random.below(255));
  return with_payload(frame, payload);
}

}  // namespace

TEST_CASE("signs of small fields are the same on both backends", "[gpu][signs][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : {Dims{1}, Dims{64}, Dims{65}, Dims{30'000}, Dims{7, 9}, Dims{300, 65},
                           Dims{2000, 3}, Dims{4, 3, 2}, Dims{70, 17, 18}, Dims{40, 41, 42}})
    for (const SignKind kind : sign_kinds) check_signs(*gpu, dims, kind);
}

TEST_CASE("signs are the same on both backends", "[gpu][signs]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims : {Dims{256, 256, 256}, Dims{200, 211, 223}, Dims{3000, 2500},
                           Dims{7'000'000}, Dims{2'000'000, 3}, Dims{9, 20, 300, 31}})
    for (const SignKind kind : sign_kinds) check_signs(*gpu, dims, kind);
}

TEST_CASE("signs of previews are picked on a device", "[gpu][signs]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  for (const Dims& dims : {Dims{60, 70, 80}, Dims{300, 400}, Dims{20'000}}) {
    const std::vector<std::byte> section =
        encode_signs(sign_words(signed_values(SignKind::waves, dims, 2)), dims, one_by_one);
    Selection points{dims};
    points.step.fill(4);
    points.first[0] = 8;
    CHECK(decoded_signs_on(*gpu, section, points) == decoded_signs_on(*cpu, section, points));
  }
}

TEST_CASE("damaged signs are refused or restored as on the CPU", "[gpu][signs][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(5);
  for (const Dims& dims : {Dims{40, 41, 42}, Dims{200, 210}, Dims{30'000}}) {
    const FrameTask task = sign_task(dims);
    const std::vector<float> values = signed_values(SignKind::waves, dims, 3);
    const CompressedFrame frame = compress(*cpu, task, bytes_of(values)).frame;
    REQUIRE(frame.header.kind == FrameKind::coded);
    for (int i = 0; i < 60; ++i) {
      INFO(dims.to_string() << ", damage " << i);
      const std::vector<std::byte> bytes = damaged_signs(frame, random);
      const auto expected = restored_or_refused(*cpu, task.shape, bytes);
      CHECK(restored_or_refused(*gpu, task.shape, bytes) == expected);
    }
  }
}

}  // namespace cuszi::test
