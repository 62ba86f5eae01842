#include "codec/frames/device_memory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "core/base/error.hpp"
#ifdef CUSZI_HAS_CUDA
#include "cuszi/gpu.hpp"
#endif

namespace cuszi {

#ifdef CUSZI_HAS_CUDA

namespace {

/// Either side may be a device's.
void copy_by_device(Bytes from, MutableBytes to) { gpu::copy(from, to); }

void copy_ends(Bytes from, MutableBytes ends) { gpu::copy_ends(from, ends); }

/// Before the first use of a device by this process, there is no device memory; asking CUDA would
/// load and start the driver.
bool is_driver_loaded() {
  static std::atomic<bool> loaded = false;
  if (!loaded) loaded = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
  return loaded;
}

}  // namespace

std::optional<int> device_of(const void* memory) {
  return is_driver_loaded() ? gpu::device_of(memory) : std::nullopt;
}

std::optional<int> MemoryOwners::device_of(const void* memory) {
  const auto* const address = static_cast<const std::byte*>(memory);
  for (const auto& [piece, device] : known_) {
    const bool begins_before = !std::less<>{}(address, piece.data());
    if (begins_before && std::less<>{}(address, piece.data() + piece.size())) return device;
  }
  const auto device = cuszi::device_of(memory);
  if (!device) return std::nullopt;
  known_[next_++ % known_.size()] = {gpu::piece_of_memory(memory), device};
  return device;
}

std::optional<int> device_in_use() {
  return is_driver_loaded() ? gpu::device_in_use() : std::nullopt;
}

void wait_for_stream(void* stream) { gpu::wait_for_stream(stream); }

std::function<void()> mark_stream(void* stream) { return gpu::mark_stream(stream); }

DeviceScope::DeviceScope(std::optional<int> device) {
  if (device) before_ = gpu::use_device(*device);
}

DeviceScope::~DeviceScope() {
  if (before_) gpu::return_to_device(*before_);
}

#else

namespace {

void copy_by_device(Bytes /*from*/, MutableBytes /*to*/) {}

void copy_ends(Bytes /*from*/, MutableBytes /*ends*/) {}

}  // namespace

std::optional<int> device_of(const void* /*memory*/) { return std::nullopt; }

std::optional<int> MemoryOwners::device_of(const void* /*memory*/) { return std::nullopt; }

std::optional<int> device_in_use() { return std::nullopt; }

void wait_for_stream(void* /*stream*/) {}

std::function<void()> mark_stream(void* /*stream*/) {
  return [] {};
}

DeviceScope::DeviceScope(std::optional<int> /*device*/) {}

DeviceScope::~DeviceScope() = default;

#endif

void copy_memory(Bytes from, MutableBytes to) {
  if (device_of(from.data()) || device_of(to.data())) {
    copy_by_device(from, to);
  } else {
    std::copy(from.begin(), from.end(), to.begin());
  }
}

Bytes DeviceSource::rest(ByteCount offset) const {
  return bytes_.subspan(std::min<ByteCount>(offset, bytes_.size()));
}

Bytes DeviceSource::held(ByteCount offset, std::size_t count) {
  constexpr ByteCount end_bytes = 4096;
  const ByteCount width = std::min<ByteCount>(end_bytes, bytes_.size());
  if (count == 0 || count > width) return {};
  if (ends_.empty()) {
    ends_.resize(2 * width);
    copy_ends(bytes_, ends_);
  }
  const ByteCount last = bytes_.size() - width;
  if (offset + count <= width) return Bytes(ends_).subspan(offset, count);
  if (offset >= last) return Bytes(ends_).subspan(width + offset - last, count);
  if (offset < window_start_ || offset + count > window_start_ + window_.size()) {
    window_start_ = offset;
    window_.resize(std::min<ByteCount>(end_bytes, bytes_.size() - offset));
    copy_by_device(bytes_.subspan(offset, window_.size()), window_);
  }
  return Bytes(window_).subspan(offset - window_start_, count);
}

std::size_t DeviceSource::read(MutableBytes out) {
  const std::size_t count = std::min(out.size(), rest(at_).size());
  if (const Bytes here = held(at_, count); !here.empty()) {
    std::copy(here.begin(), here.end(), out.begin());
  } else {
    read_at(at_, out);
  }
  at_ += count;
  return count;
}

std::size_t DeviceSource::read_at(ByteCount offset, MutableBytes out) const {
  const std::size_t count = std::min(out.size(), rest(offset).size());
  if (count != 0) copy_by_device(rest(offset).first(count), out.first(count));
  return count;
}

std::unique_ptr<ByteSource> make_memory_source(Bytes bytes) {
  if (device_of(bytes.data())) return std::make_unique<DeviceSource>(bytes);
  return std::make_unique<MemorySource>(bytes);
}

void BufferSink::write(Bytes bytes) {
  write_at(written_, bytes);
  written_ += bytes.size();
}

void BufferSink::write_at(ByteCount offset, Bytes bytes) {
  const MutableBytes to = part(offset, bytes.size());
  if (on_device_) {
    copy_by_device(bytes, to);
  } else {
    copy_memory(bytes, to);
  }
}

MutableBytes BufferSink::place(ByteCount offset, ByteCount size) {
  return on_device_ ? MutableBytes{} : part(offset, size);
}

MutableBytes BufferSink::device_place(ByteCount offset, ByteCount size) {
  return on_device_ ? part(offset, size) : MutableBytes{};
}

MutableBytes BufferSink::part(ByteCount offset, ByteCount size) const {
  if (offset > memory_.size() || size > memory_.size() - offset) {
    throw OutputError(fmt::format("the buffer of {} bytes is too small; {} bytes are always enough",
                                  memory_.size(), enough_));
  }
  return memory_.subspan(offset, size);
}

}  // namespace cuszi
