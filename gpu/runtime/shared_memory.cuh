#pragma once

#include <cuda_runtime_api.h>

#include "core/base/units.hpp"
#include "gpu/runtime/check.hpp"

namespace cuszi::gpu {

/// The bytes of shared memory that a thread block of the device in use may have, static and dynamic
/// together. Throws DeviceError.
inline unsigned shared_bytes_of_device() {
  int device = 0;
  int most = 0;
  check(cudaGetDevice(&device), "tell the device in use");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "tell its shared memory");
  return static_cast<unsigned>(most);
}

/// Raises a kernel's limit of dynamic shared memory to all that the device in use has beside the
/// kernel's static one, and returns it in bytes. The limit belongs to the process: one that follows
/// from a launch would refuse what another thread launches. Throws DeviceError.
template <class... Args>
unsigned raise_shared_limit(void (*kernel)(Args...)) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "tell a kernel's shared memory");
  const auto own_bytes = static_cast<unsigned>(attributes.sharedSizeBytes);
  const unsigned most = shared_bytes_of_device() - own_bytes;
  if (attributes.maxDynamicSharedSizeBytes != static_cast<int>(most)) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(most)),
          "set aside shared memory");
  }
  return most;
}

}  // namespace cuszi::gpu
