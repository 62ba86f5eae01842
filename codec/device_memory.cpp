#include "codec/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#ifdef CUSZI_HAS_CUDA
#include "cuszi/gpu.hpp"
#endif

namespace cuszi {

void copy_memory(Bytes from, MutableBytes to) {
#ifdef CUSZI_HAS_CUDA
  if (gpu::device_of(from.data()) || gpu::device_of(to.data())) {
    gpu::copy(from, to);
    return;
  }
#endif
  std::copy(from.begin(), from.end(), to.begin());
}

#ifdef CUSZI_HAS_CUDA

std::optional<int> device_of(const void* memory) { return gpu::device_of(memory); }

Quality measure_quality_there(DType dtype, Bytes original, Bytes restored, const FillValues& fills,
                              double bound) {
  const DeviceScope scope(device_of(original.data()));
  return gpu::measure_quality(dtype, original, restored, fills, bound);
}

void wait_for_stream(void* stream) { gpu::wait_for_stream(stream); }

DeviceScope::DeviceScope(std::optional<int> device) {
  if (device) before_ = gpu::use_device(*device);
}

DeviceScope::~DeviceScope() {
  if (before_) gpu::return_to_device(*before_);
}

#else

std::optional<int> device_of(const void* /*memory*/) { return std::nullopt; }

Quality measure_quality_there(DType /*dtype*/, Bytes /*original*/, Bytes /*restored*/,
                              const FillValues& /*fills*/, double /*bound*/) {
  throw DeviceError("this build knows no device whose memory it could compare");
}

void wait_for_stream(void* /*stream*/) {}

DeviceScope::DeviceScope(std::optional<int> /*device*/) {}

DeviceScope::~DeviceScope() = default;

#endif

std::size_t DeviceSource::read_at(ByteCount offset, MutableBytes out) const {
  const Bytes rest = bytes_.subspan(std::min<ByteCount>(offset, bytes_.size()));
  const std::size_t count = std::min(out.size(), rest.size());
  copy_memory(rest.first(count), out.first(count));
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
  copy_memory(bytes, part(offset, bytes.size()));
}

MutableBytes BufferSink::place(ByteCount offset, ByteCount size) {
  return on_device_ ? MutableBytes{} : part(offset, size);
}

MutableBytes BufferSink::device_place(ByteCount offset, ByteCount size) {
  return on_device_ ? part(offset, size) : MutableBytes{};
}

MutableBytes BufferSink::part(ByteCount offset, ByteCount size) const {
  if (offset > memory_.size() || size > memory_.size() - offset) {
    throw OutputError(fmt::format("the buffer of {} bytes is too small; at least {} are needed",
                                  memory_.size(), offset + size));
  }
  return memory_.subspan(offset, size);
}

}  // namespace cuszi
