#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "codec/frames/frame_scheduler.hpp"
#include "codec/io/byte_sink.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::test {

/// When calls of a device fail: from a call on, so many of them.
struct Faults {
  std::atomic<int> calls_before = std::numeric_limits<int>::max();
  std::atomic<int> failures = std::numeric_limits<int>::max();
  std::atomic<int> failed = 0;

  void call() {
    if (calls_before-- > 0 || failures-- <= 0) return;
    ++failed;
    throw DeviceError("out of order");
  }
};

/// A device whose memory is the host's: pieces go through two threads, the last ones first.
class FakeTransfer final : public Transfer {
 public:
  explicit FakeTransfer(ByteCount room, Faults* faults = nullptr) : room_(room), faults_(faults) {}

  /// What every call of a device does first.
  void call() const {
    if (faults_ != nullptr) faults_->call();
  }

  MutableBytes memory(std::size_t buffer, ByteCount size) override {
    call();
    const std::scoped_lock lock(mutex_);
    if (buffer >= buffers_.size()) buffers_.resize(buffer + 1);
    buffers_[buffer].resize(std::max<std::size_t>(size, buffers_[buffer].size()));
    return MutableBytes(buffers_[buffer]).first(size);
  }

  void release(std::size_t first) noexcept override {
    if (first < buffers_.size()) buffers_.resize(first);
  }
  ByteCount free_bytes() const override {
    call();
    return room_;
  }

  std::size_t buffers() const { return buffers_.size(); }
  ByteCount filled() const { return filled_; }

  void upload(MutableBytes to, const PieceUser& read) override {
    call();
    filled_ += to.size();
    in_pieces(to.size(), [&](ByteCount offset, ByteCount size) {
      std::vector<std::byte> piece(size);
      read(offset, piece);
      std::copy(piece.begin(), piece.end(), to.subspan(offset).begin());
    });
  }

  void download(Bytes from, const PieceUser& write) override {
    call();
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
  Faults* faults_;
  std::atomic<ByteCount> filled_ = 0;
  std::mutex mutex_;  ///< of the buffers
  std::vector<std::vector<std::byte>> buffers_;
};

/// What a frame begins with that the fake device fails on.
inline constexpr float poison = 4711;

/// The CPU's backend behind such transfers, and some of these beside each other.
class FakeDevice final : public Backend {
 public:
  explicit FakeDevice(ByteCount room = ByteCount{1} << 40, std::size_t backends = most_tracks)
      : FakeDevice(std::make_shared<FakeTransfer>(room), backends) {}

  /// One that fails as `faults` say.
  explicit FakeDevice(Faults& faults)
      : FakeDevice(std::make_shared<FakeTransfer>(ByteCount{1} << 40, &faults), most_tracks) {}

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
    transfer_->call();
    if (!known) ++encoded_;
    const auto* const floats = reinterpret_cast<const float*>(values.data());
    if (floats[0] == poison) throw DeviceError(fmt::format("frame {} is poison", floats[1]));
    return cpu_->encode(shape, values, rules, draft, known);
  }
  std::unique_ptr<DecodeSession> decode(Bytes payload) override {
    transfer_->call();
    return cpu_->decode(payload);
  }
  Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                          const ValueBound& bound) override {
    transfer_->call();
    return cpu_->measure_quality(dtype, original, restored, rules, bound);
  }
  std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) override {
    transfer_->call();
    return cpu_->hashes(strings);
  }
  void copy(Bytes from, MutableBytes to) override { cpu_->copy(from, to); }
  void gather(std::span<const Sections> passes, MutableBytes out) override {
    transfer_->call();
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

}  // namespace cuszi::test
