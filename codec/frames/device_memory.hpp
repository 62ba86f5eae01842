#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codec/io/byte_sink.hpp"
#include "codec/io/byte_source.hpp"
#include "core/backend/stream_coder.hpp"

namespace cuszi {

/// The number of the device in whose memory a pointer points; none for the host's.
std::optional<int> device_of(const void* memory);

/// Whether kernels reach memory by its address: that of a device, or page-locked.
bool is_reached_by_devices(const void* memory);

/// Tells the devices of many pointers. Asks but once for pointers into one piece of memory, as long
/// as few pieces take turns: the memory must stay where it is meanwhile.
class MemoryOwners {
 public:
  /// See device_of().
  std::optional<int> device_of(const void* memory);

 private:
  struct Owner {
    Bytes memory;
    std::optional<int> device;
  };
  std::array<Owner, 4> known_;
  std::size_t next_ = 0;
};

/// Copies from and to the memory of the host or of devices; complete on return. Throws DeviceError.
void copy_memory(Bytes from, MutableBytes to);

/// Waits for what a CUDA stream has been given to do; the default stream if it is none (nullptr).
/// Throws DeviceError.
void wait_for_stream(void* stream);

/// Whether a CUDA stream is being captured into a graph. Throws DeviceError.
bool is_being_captured(void* stream);

/// What codes frames in the order of a device's streams; none without that device. Throws
/// DeviceError.
std::unique_ptr<StreamCoder> make_stream_coder(int device);

/// Marks what a CUDA stream has been given to do up to now; the default stream if it is none. The
/// returned function waits for that. Throws UsageError while the stream is being captured, and
/// DeviceError.
std::function<void()> mark_stream(void* stream);

/// The calling thread's device, if there is any.
std::optional<int> device_in_use();

/// Makes a device the calling thread's, and gives it back the one it had. For the host, nothing.
class DeviceScope {
 public:
  explicit DeviceScope(std::optional<int> device);
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  std::optional<int> before_;
};

/// Bytes in a device's memory, which must stay valid and as they are.
class DeviceSource final : public ByteSource {
 public:
  explicit DeviceSource(Bytes bytes) : bytes_(bytes) {}

  std::string name() const override { return "memory"; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return bytes_.size(); }
  Bytes device_view() const override { return bytes_; }
  void seek(ByteCount offset) override { at_ = offset; }
  ByteCount skip(ByteCount count) override;

 private:
  Bytes rest(ByteCount offset) const;
  /// The bytes at `offset`, if they are few, from a copy on the host of them and those that follow.
  Bytes held(ByteCount offset, std::size_t count);

  Bytes bytes_;
  ByteCount at_ = 0;
  /// Host copies of the first and the last bytes, made when they are first asked for. An archive's
  /// headers are read in small steps, and each copy from a device takes longer than all of them.
  std::vector<std::byte> ends_;
  std::vector<std::byte> window_;  ///< what was asked for last between them, and what follows
  ByteCount window_start_ = 0;
};

/// A source for bytes in the host's memory or a device's.
std::unique_ptr<ByteSource> make_memory_source(Bytes bytes);

/// Writes to memory of the caller's, the host's or a device's, of fixed size.
class BufferSink final : public ByteSink {
 public:
  /// `enough` is a size that always suffices; the message for memory that is too small names it.
  BufferSink(MutableBytes memory, ByteCount enough)
      : memory_(memory), enough_(enough), on_device_(device_of(memory.data()).has_value()) {}

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  /// Throws OutputError if the bytes exceed the memory.
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
