#include <cstring>
#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/quality/archive_quality.hpp"
#include "codec/settings/presets.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "cuszi/gpu.hpp"
#include "test_data/fields.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

const Dims field_dims{60, 50, 70};
constexpr ByteCount slice_bytes = 50 * 70 * sizeof(float);

/// Twelve frames, in turn smooth, of one value, of noise, rough, with missing points, of zeros of
/// both signs.
const FieldCuts& plan() {
  static const FieldCuts cuts = plan_frames(field_dims, DType::f32, 5 * slice_bytes, 1);
  return cuts;
}

std::vector<std::byte> mixed_field() {
  const FieldKind kinds[] = {FieldKind::smooth, FieldKind::constant, FieldKind::wide,
                             FieldKind::rough,  FieldKind::missing,  FieldKind::sparse};
  std::vector<std::byte> values;
  for (std::uint64_t i = 0; i < plan().frames(); ++i) {
    const auto frame = make_field(kinds[i % std::size(kinds)], plan().frame_dims(i), DType::f32, i);
    values.insert(values.end(), frame.begin(), frame.end());
  }
  return values;
}

FieldSettings settings_for(const Preset& preset, ErrorMode mode) {
  FieldSettings settings;
  settings.bound = mode == ErrorMode::relative ? 1e-37 : 1e-3;  // wide values span all binades
  settings.mode = mode;
  apply(preset, settings.frame);
  return settings;
}

/// The values of an archive, as a device restores them, taken away part by part or at once.
std::vector<std::byte> restore_there(Backends& backends, Bytes archive, bool in_parts) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  std::vector<std::byte> values(field_dims.count() * sizeof(float));
  const auto put = [&](std::uint64_t i, ByteCount offset, Bytes part) {
    std::memcpy(values.data() + plan().first_value(i) * sizeof(float) + offset, part.data(),
                part.size());
  };
  FrameUsers users;
  std::vector<std::uint64_t> seen;
  users.look = [&](const RestoredFrame& frame) {
    CHECK((frame.there != nullptr) == in_parts);
    seen.push_back(frame.index);
  };
  users.use = [&](std::uint64_t i, Bytes frame) { put(i, 0, frame); };
  if (in_parts) users.use_part = put;
  CallTimes times;
  restore_field(backends, reader, times, users);
  CHECK(seen.size() == plan().frames());
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  return values;
}

}  // namespace

TEST_CASE("frames side by side on a device are those of the host", "[gpu][frames]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  REQUIRE(gpu->sibling(5 * slice_bytes) != nullptr);
  REQUIRE(plan().frames() == 12);
  const auto field = mixed_field();
  Backends backends({DeviceChoice::Kind::cuda, 0});
  for (const Preset& preset : {cusz_preset, cuszi_preset, ratio_preset, fast_preset}) {
    for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
      const FieldSettings settings = settings_for(preset, mode);
      INFO("predictor " << name_of(preset.predictor.id) << ", bound " << settings.bound);
      const auto expected = make_archive(*cpu::make_backend(), plan(), DType::f32, field, settings);
      const auto values = restore_archive(expected);
      for (int turn = 0; turn < 5; ++turn) {
        REQUIRE(make_archive(*gpu, plan(), DType::f32, field, settings) == expected);
        REQUIRE(restore_there(backends, expected, turn % 2 == 0) == values);
      }
    }
  }
}

TEST_CASE("two devices make the archive of one, and its values", "[gpu][frames][devices]") {
  if (device() == nullptr) return;
  if (gpu::device_count() < 2) {
    WARN("one GPU here: the test of two is skipped");
    return;
  }
  const auto field = mixed_field();
  Backends two({DeviceChoice::Kind::cuda, 0, 3});
  for (const Preset& preset : {cusz_preset, cuszi_preset, ratio_preset, fast_preset}) {
    for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
      const FieldSettings settings = settings_for(preset, mode);
      const auto expected = make_archive(*cpu::make_backend(), plan(), DType::f32, field, settings);
      const auto values = restore_archive(expected);
      for (int turn = 0; turn < 3; ++turn) {
        FieldLayout layout;
        layout.dims = field_dims;
        FieldSource source(std::make_unique<MemorySource>(field), layout, plan());
        MemorySink archive;
        CallTimes times;
        compress_field(two, settings, source, archive, times);
        REQUIRE(archive.take() == expected);
        REQUIRE(restore_there(two, expected, turn % 2 == 0) == values);
      }
    }
  }
  CHECK(two.losses().empty());
}

TEST_CASE("damage to one of several frames is told, and nothing is left of it", "[gpu][frames]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto field = mixed_field();
  Backends backends({DeviceChoice::Kind::cuda, 0});
  for (const Preset& preset : {cusz_preset, cuszi_preset, ratio_preset, fast_preset}) {
    const FieldSettings settings = settings_for(preset, ErrorMode::absolute);
    const auto archive = make_archive(*gpu, plan(), DType::f32, field, settings);
    const auto values = restore_there(backends, archive, true);
    MemorySource source(archive);
    ArchiveReader reader(source);
    reader.leave_payloads();
    for (std::uint64_t i = 0; i < plan().frames(); ++i) {
      const ArchiveFrame frame = reader.next_frame();
      auto damaged = archive;
      damaged[frame.place.value() + frame.payload_bytes / 2] ^= std::byte{0x10};
      CHECK_THROWS_AS(restore_there(backends, damaged, i % 2 == 0), ArchiveError);
    }
    CHECK(restore_there(backends, archive, true) == values);
  }
}

TEST_CASE("an archive is compared with its field on the device as on the host", "[gpu][frames]") {
  if (device() == nullptr) return;
  const auto values = mixed_field();
  Backends there({DeviceChoice::Kind::cuda, 0});
  Backends here({DeviceChoice::Kind::cpu, 0});
  for (const Preset& preset : {cuszi_preset, fast_preset}) {
    const FieldSettings settings = settings_for(preset, ErrorMode::absolute);
    const auto archive = make_archive(*device(), plan(), DType::f32, values, settings);
    const auto measure = [&](Backends& backends) {
      FieldLayout layout;
      layout.dims = field_dims;
      FieldSource field(std::make_unique<MemorySource>(values), layout, plan());
      MemorySource source(archive);
      CallTimes times;
      return measure_archive(backends, source, field, {}, times);
    };
    const QualityMeter found = measure(there);
    const QualityMeter expected = measure(here);
    CHECK(found.quality().points == expected.quality().points);
    CHECK(found.quality().missing == expected.quality().missing);
    CHECK(found.quality().max_error == expected.quality().max_error);
    CHECK(found.quality().psnr() == expected.quality().psnr());
    CHECK_FALSE(found.quality().first_bad.has_value());
    CHECK(found.quality().mean_error() == expected.quality().mean_error());
  }
}

}  // namespace cuszi::test
