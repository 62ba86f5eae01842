#include "gpu/runtime/device_memory.hpp"

namespace cuszi::gpu {

bool is_on_device(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "tell whose memory this is");
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

Bytes bring(Work& work, Bytes bytes) {
  if (bytes.empty() || is_on_device(bytes.data())) return bytes;
  auto* const memory = work.take<std::byte>(bytes.size());
  work.copy(memory, bytes.data(), bytes.size());
  return {memory, bytes.size()};
}

}  // namespace cuszi::gpu
