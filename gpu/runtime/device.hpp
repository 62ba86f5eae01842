#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/error.hpp"

namespace cuszi::gpu {

/// Throws DeviceError, naming what was attempted.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // or the next launch would report it again
  throw DeviceError(std::string("the GPU failed to ") + what + ": " + cudaGetErrorString(status));
}

/// Call it after every kernel launch.
inline void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) check(status, (std::string("run ") + kernel).c_str());
}

/// Properties of a device. Archives must not depend on them.
struct Device {
  int number = 0;
  std::string name;
  unsigned multiprocessors = 0;
  unsigned shared_bytes = 0;  ///< static and dynamic, per thread block

  /// Throws DeviceError.
  static Device in_use() {
    Device device;
    check(cudaGetDevice(&device.number), "query the current device");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device.number), "query its properties");
    device.name = properties.name;
    device.multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
    device.shared_bytes = static_cast<unsigned>(properties.sharedMemPerBlockOptin);
    return device;
  }
};

/// Raises a kernel's limit to the maximum and returns it. The limit is per process: a smaller one
/// could fail another thread's launch. Throws DeviceError.
template <class... Params>
unsigned raise_shared_limit(const Device& device, void (*kernel)(Params...)) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "query a kernel's shared memory");
  const unsigned most = device.shared_bytes - static_cast<unsigned>(attributes.sharedSizeBytes);
  if (attributes.maxDynamicSharedSizeBytes != static_cast<int>(most)) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(most)),
          "set aside shared memory");
  }
  return most;
}

}  // namespace cuszi::gpu
