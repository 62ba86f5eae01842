#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/device_buffers.hpp"
#include "codec/quality/archive_quality.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// A device whose memory is the host's: pieces go through two threads, the last ones first.
class FakeTransfer final : public Transfer {
 public:
  explicit FakeTransfer(ByteCount room) : room_(room) {}

  MutableBytes memory(std::size_t buffer, ByteCount size) override {
    const std::scoped_lock lock(mutex_);
    if (buffer >= buffers_.size()) buffers_.resize(buffer + 1);
    buffers_[buffer].resize(std::max<std::size_t>(size, buffers_[buffer].size()));
    return MutableBytes(buffers_[buffer]).first(size);
  }

  void release(std::size_t first) noexcept override {
    if (first < buffers_.size()) buffers_.resize(first);
  }
  ByteCount room() const override { return room_; }

  std::size_t buffers() const { return buffers_.size(); }
  ByteCount filled() const { return filled_; }

  void upload(MutableBytes to, const PieceUser& read) override {
    filled_ += to.size();
    in_pieces(to.size(), [&](ByteCount offset, ByteCount size) {
      std::vector<std::byte> piece(size);
      read(offset, piece);
      std::copy(piece.begin(), piece.end(), to.subspan(offset).begin());
    });
  }

  void download(Bytes from, const PieceUser& write) override {
    in_pieces(from.size(), [&](ByteCount offset, ByteCount size) {
      const Bytes values = from.subspan(offset, size);
      std::vector<std::byte> piece(values.begin(), values.end());
      write(offset, piece);
    });
  }

 private:
  static constexpr ByteCount piece_bytes = 1000;

  template <class Work>
  static void in_pieces(ByteCount size, const Work& work) {
    const ByteCount pieces = ceil_div(size, piece_bytes);
    std::exception_ptr failures[2];
    const auto run = [&](ByteCount parity) {
      try {
        for (ByteCount i = pieces; i-- > 0;) {
          const ByteCount offset = i * piece_bytes;
          if (i % 2 == parity) work(offset, std::min(piece_bytes, size - offset));
        }
      } catch (...) {
        failures[parity] = std::current_exception();
      }
    };
    std::thread odd(run, 1);
    run(0);
    odd.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  ByteCount room_;
  std::atomic<ByteCount> filled_ = 0;
  std::mutex mutex_;  ///< of the buffers
  std::vector<std::vector<std::byte>> buffers_;
};

/// What a frame begins with that the fake device fails on.
constexpr float poison = 4711;

/// The CPU's backend behind such transfers, and some of these beside each other.
class FakeDevice final : public Backend {
 public:
  explicit FakeDevice(ByteCount room = ByteCount{1} << 40, std::size_t backends = most_tracks)
      : FakeDevice(std::make_shared<FakeTransfer>(room), backends) {}

  FakeDevice(std::shared_ptr<FakeTransfer> transfer, std::size_t backends)
      : transfer_(std::move(transfer)) {
    if (backends > 1) sibling_ = std::make_unique<FakeDevice>(transfer_, backends - 1);
  }

  std::string name() const override { return "fake"; }
  FakeTransfer* transfer() override { return transfer_.get(); }
  Backend* sibling(ByteCount /*frame_bytes*/) override { return sibling_.get(); }
  std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                        const ValueRules& rules, const PredictorParams& draft,
                                        const std::optional<FieldScan>& known) override {
    if (!known) ++encoded_;
    const auto* const floats = reinterpret_cast<const float*>(values.data());
    if (floats[0] == poison) throw DeviceError(fmt::format("frame {} is poison", floats[1]));
    return cpu_->encode(shape, values, rules, draft, known);
  }
  std::unique_ptr<DecodeSession> decode(Bytes payload) override { return cpu_->decode(payload); }
  Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                          const ValueBound& bound) override {
    return cpu_->measure_quality(dtype, original, restored, rules, bound);
  }
  Fidelity measure_fidelity(const FrameShape& shape, Bytes original, Bytes restored,
                            const FillValues& fills) override {
    return cpu_->measure_fidelity(shape, original, restored, fills);
  }
  std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) override {
    return cpu_->hashes(strings);
  }
  void copy(Bytes from, MutableBytes to) override { cpu_->copy(from, to); }
  void gather(std::span<const Sections> passes, MutableBytes out) override {
    cpu_->gather(passes, out);
  }

  /// How many frames it and those beside it have looked at for the first time.
  std::uint64_t encoded() const { return encoded_ + (sibling_ ? sibling_->encoded() : 0); }

 private:
  std::unique_ptr<Backend> cpu_ = cpu::make_backend();
  std::shared_ptr<FakeTransfer> transfer_;
  std::unique_ptr<FakeDevice> sibling_;
  std::uint64_t encoded_ = 0;
};

/// Takes any order, and remembers the bytes.
class PlacedSink final : public ByteSink {
 public:
  explicit PlacedSink(ByteCount most) : most_(most) {}

  void write(Bytes /*bytes*/) override { throw OutputError("the order was to be free"); }
  bool takes_any_order() const override { return true; }
  void write_at(ByteCount offset, Bytes bytes) override {
    const std::scoped_lock lock(mutex_);
    if (offset + bytes.size() > most_) throw OutputError("the device is full");
    bytes_.resize(std::max<std::size_t>(bytes_.size(), offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  ByteCount most_;
  std::vector<std::byte> bytes_;
};

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
    CHECK(found.fidelity().mean_error() == expected.fidelity().mean_error());
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

}  // namespace cuszi::test
