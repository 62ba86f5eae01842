#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/error.hpp"

namespace cuszi::gpu {

/// Turns a failed CUDA call into a DeviceError that names what was attempted.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // else the next launch would report it again
  throw DeviceError(std::string("the GPU failed to ") + what + ": " + cudaGetErrorString(status));
}

/// To be called after every kernel launch.
inline void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) check(status, (std::string("run ") + kernel).c_str());
}

}  // namespace cuszi::gpu
