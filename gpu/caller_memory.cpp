#include "cuszi/gpu.hpp"
#include "gpu/check.hpp"

namespace cuszi::gpu {

std::optional<int> device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // without a driver, all memory is the host's
    return std::nullopt;
  }
  const bool device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return device ? std::optional(attributes.device) : std::nullopt;
}

void copy(Bytes from, MutableBytes to) {
  check(cudaMemcpy(to.data(), from.data(), from.size(), cudaMemcpyDefault), "copy");
}

void wait_for_stream(void* stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "finish the caller's work");
}

int use_device(int device) {
  int before = 0;
  check(cudaGetDevice(&before), "tell the device in use");
  check(cudaSetDevice(device), "select a device");
  return before;
}

void return_to_device(int before) noexcept { cudaSetDevice(before); }

}  // namespace cuszi::gpu
