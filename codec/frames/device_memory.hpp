#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/io/byte_sink.hpp"
#include "codec/io/byte_source.hpp"

namespace cuszi {

/// The number of the device in whose memory a pointer points; none for the host's.
std::optional<int> device_of(const void* memory);

/// Copies from and to the memory of the host or of devices; complete on return. Throws DeviceError.
void copy_memory(Bytes from, MutableBytes to);

/// Waits for what a CUDA stream has been given to do; the default stream if it is none (nullptr).
/// Throws DeviceError.
void wait_for_stream(void* stream);

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
  /// What stands there, if that is little, from a copy of it and what follows.
  Bytes held(ByteCount offset, std::size_t count);

  Bytes bytes_;
  ByteCount at_ = 0;
  /// The first and the last bytes, once they are asked for. An archive's headers are read in small
  /// steps, and each copy from a device takes longer than all of them.
  std::vector<std::byte> ends_;
  std::vector<std::byte> window_;  ///< what was asked for last between them, and what follows
  ByteCount window_start_ = 0;
};

/// A source for bytes in anybody's memory.
std::unique_ptr<ByteSource> make_memory_source(Bytes bytes);

/// Memory of the caller's, the host's or a device's, that takes so many bytes and no more.
class BufferSink final : public ByteSink {
 public:
  /// Of what is written no more than `enough` bytes can come.
  BufferSink(MutableBytes memory, ByteCount enough)
      : memory_(memory), enough_(enough), on_device_(device_of(memory.data()).has_value()) {}

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  /// Throws OutputError if the memory ends before.
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
