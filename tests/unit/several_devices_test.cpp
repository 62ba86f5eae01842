#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/quality/archive_quality.hpp"
#include "test_data/fields.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/sanitized.hpp"

// Frames of a field on several devices, of which some fail.

namespace cuszi::test {

namespace {

const Dims field_dims{33, 20, 30};
constexpr ByteCount frame_bytes = 5000;  // two slices: 17 frames

/// From one number of calls before a fault to the next: all at first, then one in so many.
int next_calls(int calls) { return sanitized ? 3 * calls + 1 : calls + 1 + calls / 6; }

FieldCuts cuts() { return plan_frames(field_dims, DType::f32, frame_bytes, 1); }

FieldSettings settings_for(ErrorMode mode) {
  FieldSettings settings;
  settings.bound = 1e-3;
  settings.mode = mode;
  if (sanitized) settings.frame.predictor.multilevel.effort = Effort::fast;
  return settings;
}

FieldSource source_of(Bytes values) {
  FieldLayout layout;
  layout.dims = field_dims;
  return {std::make_unique<MemorySource>(values), layout, cuts()};
}

/// Fake devices, each with faults of its own.
template <std::size_t Count>
struct Devices {
  std::array<Faults, Count> faults;
  Backends backends{make()};

 private:
  std::vector<std::unique_ptr<Backend>> make() {
    std::vector<std::unique_ptr<Backend>> devices;
    for (Faults& own : faults) devices.push_back(std::make_unique<FakeDevice>(own));
    return devices;
  }
};

std::vector<std::byte> compress_with(Backends& backends, Bytes values,
                                     const FieldSettings& settings) {
  FieldSource field = source_of(values);
  PlacedSink sink(ByteCount{1} << 30);
  CallTimes times;
  std::uint64_t done = 0;
  CompressionEvents events;
  events.frame_done = [&] { ++done; };
  compress_field(backends, settings, field, sink, times, events);
  CHECK(done == cuts().frames());
  return sink.bytes();
}

std::vector<std::byte> restore_with(Backends& backends, Bytes archive, bool in_parts) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  std::vector<std::byte> values(field_dims.count() * sizeof(float));
  const auto put = [&](std::uint64_t i, ByteCount offset, Bytes part) {
    std::copy(part.begin(), part.end(),
              values.begin() +
                  static_cast<std::ptrdiff_t>(cuts().first_value(i) * sizeof(float) + offset));
  };
  FrameUsers users;
  std::uint64_t next = 0;
  users.look = [&](const RestoredFrame& frame) { CHECK(frame.index == next++); };
  users.use = [&](std::uint64_t i, Bytes frame) { put(i, 0, frame); };
  if (in_parts) users.use_part = put;
  CallTimes times;
  const FieldSummary summary = restore_field(backends, reader, times, users);
  CHECK(next == cuts().frames());
  CHECK(summary.frames == cuts().frames());
  return values;
}

}  // namespace

TEST_CASE("several devices make the archive of one, and its values") {
  const auto values = make_field(FieldKind::missing, field_dims, DType::f32, 3);
  REQUIRE(cuts().frames() == 17);
  for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
    const auto expected =
        make_archive(*cpu::make_backend(), cuts(), DType::f32, values, settings_for(mode));
    const auto restored = restore_archive(expected);
    Devices<3> three;
    for (int turn = 0; turn < 5; ++turn) {
      REQUIRE(compress_with(three.backends, values, settings_for(mode)) == expected);
      REQUIRE(restore_with(three.backends, expected, turn % 2 == 0) == restored);
    }
    CHECK(three.backends.losses().empty());
    CHECK(three.backends.last_name() == "fake + fake + fake");
  }
}

TEST_CASE("a device that fails at any call leaves its frames to the others") {
  const auto values = make_field(FieldKind::missing, field_dims, DType::f32, 3);
  for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
    const FieldSettings settings = settings_for(mode);
    const auto expected = make_archive(*cpu::make_backend(), cuts(), DType::f32, values, settings);
    bool fails = true;
    for (int calls = 0; fails; calls = next_calls(calls)) {
      for (const std::size_t device : {0U, 1U}) {
        for (const int failures : {1, std::numeric_limits<int>::max()}) {
          Devices<2> two;
          Faults& faults = two.faults.at(device);
          faults.failures = failures;
          faults.calls_before = calls;
          INFO("device " << device << " fails after " << calls << " calls");
          REQUIRE(compress_with(two.backends, values, settings) == expected);
          fails = faults.failed > 0;
          if (two.backends.losses().empty()) continue;
          CHECK(two.backends.losses().front().find("out of order") != std::string::npos);
          CHECK(two.backends.last_name() == "fake + fake");
          CHECK(two.backends.all_for_frames().size() == 1);
          REQUIRE(compress_with(two.backends, values, settings) == expected);
        }
      }
    }
  }
}

TEST_CASE("what a failing device was to restore the others do") {
  const auto values = make_field(FieldKind::missing, field_dims, DType::f32, 3);
  const auto archive = make_archive(*cpu::make_backend(), cuts(), DType::f32, values,
                                    settings_for(ErrorMode::absolute));
  const auto expected = restore_archive(archive);
  bool fails = true;
  for (int calls = 0; fails; calls = next_calls(calls)) {
    for (const bool in_parts : {true, false}) {
      Devices<3> three;
      three.faults[0].calls_before = calls;
      three.faults[2].calls_before = 2 * calls;
      INFO("devices fail after " << calls << " and twice as many calls");
      REQUIRE(restore_with(three.backends, archive, in_parts) == expected);
      fails = three.faults[0].failed > 0;
    }
  }
}

TEST_CASE("measures are those of one device though one of two fails") {
  const auto values = make_field(FieldKind::smooth, field_dims, DType::f32, 3);
  const auto archive = make_archive(*cpu::make_backend(), cuts(), DType::f32, values,
                                    settings_for(ErrorMode::absolute));
  const auto measure = [&](Backends& backends) {
    FieldSource field = source_of(values);
    MemorySource source(archive);
    CallTimes times;
    return measure_archive(backends, source, field, {}, times);
  };
  Backends here({DeviceChoice::Kind::cpu, 0});
  const QualityMeter expected = measure(here);
  for (int calls = 0; calls < 100; calls += 3) {
    Devices<2> two;
    two.faults[1].calls_before = calls;
    const QualityMeter found = measure(two.backends);
    CHECK(found.quality().points == expected.quality().points);
    CHECK(found.quality().psnr() == expected.quality().psnr());
    CHECK(found.quality().mean_error() == expected.quality().mean_error());
  }
}

TEST_CASE("if all devices fail, the failure is told") {
  const auto values = make_field(FieldKind::smooth, field_dims, DType::f32, 3);
  const auto settings = settings_for(ErrorMode::absolute);
  for (const int calls : {0, 1, 7, 20}) {
    Devices<2> two;
    for (Faults& faults : two.faults) faults.calls_before = calls;
    CHECK_THROWS_AS(compress_with(two.backends, values, settings), DeviceError);
  }
  const auto archive = make_archive(*cpu::make_backend(), cuts(), DType::f32, values, settings);
  Devices<2> two;
  for (Faults& faults : two.faults) faults.calls_before = 3;
  CHECK_THROWS_AS(restore_with(two.backends, archive, true), DeviceError);
}

TEST_CASE("what is wrong with an archive no other device is asked about") {
  const auto values = make_field(FieldKind::smooth, field_dims, DType::f32, 3);
  auto archive = make_archive(*cpu::make_backend(), cuts(), DType::f32, values,
                              settings_for(ErrorMode::absolute));
  archive[archive.size() / 2] ^= std::byte{1};
  Devices<2> two;
  MemorySource source(archive);
  ArchiveReader reader(source);
  CallTimes times;
  CHECK_THROWS_AS(restore_field(two.backends, reader, times, {}), ArchiveError);
  CHECK(two.backends.losses().empty());
}

}  // namespace cuszi::test
