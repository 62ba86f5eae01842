#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <thread>

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "codec/io/file_descriptor.hpp"
#include "codec/quality/archive_quality.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "test_data/fields.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_device.hpp"

namespace cuszi::test {

namespace {

const Dims dims{20, 30, 40};

FieldSettings settings_for(ErrorMode mode, ByteCount frame_bytes) {
  FieldSettings settings;
  settings.bound = 1e-3;
  settings.mode = mode;
  settings.frame_bytes = frame_bytes;
  return settings;
}

void compress_on(FakeDevice& device, Bytes values, const FieldSettings& settings, ByteSink& sink) {
  FieldLayout layout;
  layout.dims = dims;
  FieldSource field(std::make_unique<MemorySource>(values), layout,
                    plan_frames(dims, DType::f32, settings.frame_bytes, 1));
  CallTimes times;
  compress_field(device, settings, field, sink, times);
}

void compress_on_fake_device(Bytes values, const FieldSettings& settings, ByteSink& sink,
                             std::size_t backends = most_tracks) {
  FakeDevice device(ByteCount{1} << 40, backends);
  compress_on(device, values, settings, sink);
}

/// Smooth slices, some of one value, some of noise, some with missing points.
std::vector<std::byte> mixed_values() {
  auto values = make_values<float>(FieldKind::smooth, dims, 1);
  const auto odd = make_values<float>(FieldKind::wide, dims, 2);
  const std::uint64_t slice = dims[1] * dims[2];
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t z = i / slice;
    if (z % 5 == 1) values[i] = 2.5F;
    if (z % 5 == 2) values[i] = odd[i];
    if (z % 5 == 3 && i % 7 == 0) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  const Bytes bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// The values of an archive; frames are looked at in their order.
std::vector<std::byte> restore_on_fake_device(
    Bytes archive, std::size_t backends, bool in_parts,
    const FrameLook& look = [](const RestoredFrame&) {}) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  const FieldCuts plan = reader.header().plan;
  std::vector<std::byte> values(plan.dims.count() * sizeof(float));
  const auto put = [&](std::uint64_t i, ByteCount offset, Bytes part) {
    const auto place = static_cast<std::ptrdiff_t>(plan.first_value(i) * sizeof(float) + offset);
    std::copy(part.begin(), part.end(), values.begin() + place);
  };
  FrameUsers users;
  std::uint64_t next = 0;
  users.look = [&](const RestoredFrame& frame) {
    CHECK(frame.index == next++);
    CHECK((frame.there != nullptr) == in_parts);
    look(frame);
  };
  users.use = [&](std::uint64_t i, Bytes frame) { put(i, 0, frame); };
  if (in_parts) users.use_part = put;
  Backends devices(std::make_unique<FakeDevice>(ByteCount{1} << 40, backends));
  CallTimes times;
  restore_field(devices, reader, times, users);
  return values;
}

constexpr ByteCount frame_sizes[] = {ByteCount{1} << 30, 40000, 5000};

}  // namespace

TEST_CASE("frames that travel in pieces make the same archive") {
  const auto values = mixed_values();
  for (const ByteCount frame_bytes : frame_sizes) {
    for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
      const FieldSettings settings = settings_for(mode, frame_bytes);
      const auto expected = make_archive(dims, DType::f32, values, settings);
      for (const std::size_t backends : {std::size_t{1}, most_tracks}) {
        PlacedSink placed(ByteCount{1} << 30);
        compress_on_fake_device(values, settings, placed, backends);
        REQUIRE(placed.bytes() == expected);
        MemorySink in_order;
        compress_on_fake_device(values, settings, in_order, backends);
        REQUIRE(std::equal(expected.begin(), expected.end(), in_order.bytes().begin(),
                           in_order.bytes().end()));
      }
    }
  }
}

TEST_CASE("each frame is looked at once") {
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
    FakeDevice device;
    PlacedSink sink(ByteCount{1} << 30);
    compress_on(device, values, settings_for(mode, 5000), sink);
    CHECK(device.encoded() == plan_frames(dims, DType::f32, 5000, 1).frames());
  }
}

TEST_CASE("the first frame that a device fails on ends the compression") {
  auto values = make_values<float>(FieldKind::smooth, dims, 1);
  const FieldCuts plan = plan_frames(dims, DType::f32, 5000, 1);
  REQUIRE(plan.frames() > 12);
  for (const std::uint64_t frame : {11U, 7U, 6U}) {
    values[plan.first_value(frame)] = poison;
    values[plan.first_value(frame) + 1] = static_cast<float>(frame);
    for (const ErrorMode mode : {ErrorMode::relative, ErrorMode::absolute}) {
      PlacedSink sink(ByteCount{1} << 30);
      const auto run = [&] {
        compress_on_fake_device(std::as_bytes(std::span(values)), settings_for(mode, 5000), sink);
      };
      CHECK_THROWS_WITH(run(), fmt::format("frame {} is poison", frame));
    }
  }
}

TEST_CASE("frames that are used twice travel once to a device that has room for them") {
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  const FieldSettings settings = settings_for(ErrorMode::relative, 10000);
  const auto expected = make_archive(dims, DType::f32, values, settings);
  for (const bool room : {true, false}) {
    FakeDevice device(room ? ByteCount{1} << 40 : values.size());
    PlacedSink sink(ByteCount{1} << 30);
    compress_on(device, values, settings, sink);
    REQUIRE(sink.bytes() == expected);
    REQUIRE(device.transfer()->filled() == (room ? 1 : 2) * values.size());
    REQUIRE(device.transfer()->buffers() <= first_kept_buffer);
  }
}

TEST_CASE("frames that are restored side by side come back as one by one") {
  const auto values = mixed_values();
  for (const ByteCount frame_bytes : frame_sizes) {
    const auto archive =
        make_archive(dims, DType::f32, values, settings_for(ErrorMode::absolute, frame_bytes));
    const auto expected = restore_archive(archive);
    for (const std::size_t backends : {std::size_t{1}, most_tracks}) {
      for (const bool in_parts : {true, false}) {
        CHECK(restore_on_fake_device(archive, backends, in_parts) == expected);
      }
    }
  }
}

TEST_CASE("a box of frames that are restored side by side") {
  const auto settings = settings_for(ErrorMode::absolute, 5000);
  const auto archive = make_archive(dims, DType::f32, mixed_values(), settings);
  Box box;
  box.first = {3, 5, 7};
  box.end[0] = 17;
  MemorySource expected_source(archive);
  const auto expected = restore_preview(expected_source, 1, box).values;
  MemorySource source(archive);
  ArchiveReader reader(source);
  Preview preview(reader.header().plan, 1, box);
  Backends backends(std::make_unique<FakeDevice>());
  std::vector<std::byte> shown;
  FrameUsers users;
  users.use = [&](std::uint64_t /*i*/, Bytes part) {
    shown.insert(shown.end(), part.begin(), part.end());
  };
  CallTimes times;
  restore_field(backends, reader, preview, times, users);
  CHECK(shown == expected);
}

TEST_CASE("the first damaged frame ends the restoration") {
  const auto settings = settings_for(ErrorMode::absolute, 5000);
  const auto archive = make_archive(dims, DType::f32, mixed_values(), settings);
  MemorySource source(archive);
  ArchiveReader reader(source);
  reader.leave_payloads();
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const ArchiveFrame frame = reader.next_frame();
    auto damaged = archive;
    damaged[frame.place.value() + frame.payload_bytes / 2] ^= std::byte{1};
    for (const std::size_t backends : {std::size_t{1}, most_tracks}) {
      std::uint64_t looked = 0;
      const auto count = [&](const RestoredFrame& /*frame*/) { ++looked; };
      CHECK_THROWS_AS(restore_on_fake_device(damaged, backends, i % 2 == 0, count), ArchiveError);
      CHECK(looked == i);
    }
  }
}

TEST_CASE("an archive is compared with frames that travel, too") {
  const auto values = mixed_values();
  for (const ByteCount frame_bytes : frame_sizes) {
    const auto settings = settings_for(ErrorMode::absolute, frame_bytes);
    const auto archive = make_archive(dims, DType::f32, values, settings);
    const auto measure = [&](Backends& backends) {
      FieldLayout layout;
      layout.dims = dims;
      FieldSource field(std::make_unique<MemorySource>(values), layout,
                        plan_frames(dims, DType::f32, frame_bytes, 1));
      MemorySource source(archive);
      CallTimes times;
      return measure_archive(backends, source, field, {}, times);
    };
    Backends here({DeviceChoice::Kind::cpu, 0});
    Backends there(std::make_unique<FakeDevice>());
    const QualityMeter expected = measure(here);
    const QualityMeter found = measure(there);
    CHECK(found.quality().points == expected.quality().points);
    CHECK(found.quality().psnr() == expected.quality().psnr());
    CHECK(found.quality().mean_error() == expected.quality().mean_error());
    CHECK_FALSE(found.quality().first_bad.has_value());
  }
}

TEST_CASE("what goes wrong while pieces travel ends the compression") {
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  for (const ByteCount frame_bytes : frame_sizes) {
    const FieldSettings settings = settings_for(ErrorMode::absolute, frame_bytes);
    PlacedSink full(3000);
    REQUIRE_THROWS_AS(compress_on_fake_device(values, settings, full), OutputError);
  }
}

TEST_CASE("threads write the parts of a file in memory and on a disk") {
  const std::vector<std::byte> values = mixed_values();
  const auto part = GENERATE(std::size_t{1000}, std::size_t{4096},
                             std::size_t{5000});  // of pages, and across them
  for (const char* const folder : {"/dev/shm", "/tmp"}) {
    const FileDescriptor file(::open(folder, O_TMPFILE | O_RDWR, 0600));
    if (!file.is_open()) continue;  // not on every system
    FileParts parts;
    parts.set_size(file.get(), values.size());
    std::atomic<bool> is_written = true;
    const auto write_every_fourth = [&](std::size_t first) {
      for (std::size_t at = first * part; at < values.size(); at += 4 * part) {
        const Bytes bytes = Bytes(values).subspan(at, std::min(part, values.size() - at));
        if (!parts.write_at(file.get(), at, bytes)) is_written = false;
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 4; ++i) threads.emplace_back(write_every_fourth, i);
    }
    CHECK(is_written);
    FileSource written(FileDescriptor(::dup(file.get())), folder);
    REQUIRE(written.size() == values.size());
    std::vector<std::byte> back(values.size());
    CHECK(written.read(back) == back.size());
    CHECK(back == values);
  }
}

TEST_CASE("threads read the parts of a file", "[unsanitized]") {
  const Dims large{5, 1000, 2000};
  std::vector<float> values(large.count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 9'999'991);
  const Bytes bytes = std::as_bytes(std::span(values));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::tmpfile(), std::fclose);
  REQUIRE(opened != nullptr);
  const int file = ::fileno(opened.get());
  constexpr ByteCount skipped = 12;
  REQUIRE(::pwrite(file, bytes.data(), bytes.size(), skipped) ==
          static_cast<ssize_t>(bytes.size()));
  const ThreadsScope threads(4);
  FieldLayout layout;
  layout.dims = large;
  layout.skip_bytes = skipped;
  FieldSource field(std::make_unique<FileSource>(FileDescriptor(::dup(file)), "a file"), layout,
                    plan_frames(large, DType::f32, bytes.size(), 1));
  REQUIRE(field.plan().frames() == 1);
  CHECK(std::ranges::equal(field.frame(0), bytes));

  REQUIRE(::ftruncate(file, 30'000'000) == 0);
  field.use_once();
  static_cast<void>(field.take(0));
  CHECK_THROWS_AS(field.frame(0), InputError);  // is too short now
}

}  // namespace cuszi::test
