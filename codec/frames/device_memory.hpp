#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codec/io/byte_sink.hpp"
#include "codec/io/byte_source.hpp"

namespace cuszi {

/// Device that owns the memory; nullopt for the host.
std::optional<int> device_of(const void* memory);

/// Caches the device per allocation; allocations must not move.
class MemoryOwners {
 public:
  std::optional<int> device_of(const void* memory);

 private:
  struct Owner {
    Bytes memory;
    std::optional<int> device;
  };
  std::array<Owner, 4> known_;
  std::size_t next_ = 0;
};

/// Synchronous, host or device. Throws DeviceError.
void copy_memory(Bytes from, MutableBytes to);

/// Waits for a CUDA stream; nullptr is the default stream. Throws DeviceError.
void wait_for_stream(void* stream);

/// Records an event; the returned function waits for it. Throws UsageError during capture, and
/// DeviceError.
std::function<void()> mark_stream(void* stream);

/// The calling thread's device.
std::optional<int> device_in_use();

/// Sets the thread's device and restores the previous one. Nullopt: no effect.
class DeviceScope {
 public:
  explicit DeviceScope(std::optional<int> device);
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  std::optional<int> before_;
};

/// Device memory that stays valid and unchanged.
class DeviceSource final : public ByteSource {
 public:
  explicit DeviceSource(Bytes bytes) : bytes_(bytes) {}

  std::string name() const override { return "memory"; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return bytes_.size(); }
  Bytes device_view() const override { return bytes_; }

 private:
  Bytes rest(ByteCount offset) const;
  /// Host copy at `offset`, with later bytes.
  Bytes held(ByteCount offset, std::size_t count);

  Bytes bytes_;
  /// Host copies: headers are read in small steps, each slower on a device than all bytes at once.
  std::vector<std::byte> ends_;
  std::vector<std::byte> window_;  ///< between the ends
  ByteCount window_start_ = 0;
};

/// In host or device memory.
std::unique_ptr<ByteSource> make_memory_source(Bytes bytes);

/// Fixed-size host or device memory.
class BufferSink final : public ByteSink {
 public:
  /// `enough` is for the error message.
  BufferSink(MutableBytes memory, ByteCount enough)
      : memory_(memory), enough_(enough), on_device_(device_of(memory.data()).has_value()) {}

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  /// Throws OutputError if the buffer is too small.
  void write_at(ByteCount offset, Bytes bytes) override;
  MutableBytes place(ByteCount offset, ByteCount size) override;
  MutableBytes device_place(ByteCount offset, ByteCount size) override;

 private:
  MutableBytes part(ByteCount offset, ByteCount size) const;

  MutableBytes memory_;
  ByteCount enough_;
  bool on_device_;
  ByteCount written_ = 0;
};

}  // namespace cuszi
