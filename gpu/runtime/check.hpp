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

}  // namespace cuszi::gpu
