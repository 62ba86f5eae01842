#pragma once

#include <memory>
#include <string>

#include "core/backend.hpp"

namespace cuszi::gpu {

/// How many devices there are; none without a driver.
int device_count();

/// Whether this predictor and this coder have kernels.
constexpr bool has_steps(PredictorId predictor, CoderId coder) {
  return predictor != PredictorId::multilevel && coder == CoderId::huffman;
}

/// A backend on the device of this number (as nvidia-smi counts them). Throws DeviceError if there
/// is none.
///
/// Fields, payloads and outputs may lie in host memory, page-locked or not, or in the device's:
/// with device pointers, and compress_frame() in its form with `allocate`, nothing leaves the
/// device. Its memory is taken with the first frame and kept for the next ones.
std::unique_ptr<Backend> make_backend(int device = 0);

/// Throws DeviceError unless nvCOMP, which Lossless::bitcomp needs, can be loaded.
void require_bitcomp();

/// The most device memory that `backend`, made by make_backend(), has used for one frame beside the
/// field and its archive where those lay on the device.
ByteCount peak_device_bytes(const Backend& backend);

}  // namespace cuszi::gpu
