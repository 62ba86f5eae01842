#pragma once

#include <cuda_runtime_api.h>

#include "core/backend/stream_coder.hpp"

namespace cuszi::gpu {

/// Device memory for one frame, in bytes.
ByteCount scratch_for_encoding(const FrameShape& shape);
ByteCount scratch_for_decoding(const FrameShape& shape);

/// Enqueues all kernels of the frame. `first_failure`, accessible from the device, receives the
/// first failure of several calls.
void start_to_encode(const StreamEncoding& frame, std::byte* scratch, std::uint64_t* first_failure);
void start_to_decode(const StreamDecoding& frame, std::byte* scratch, std::uint64_t* first_failure);

}  // namespace cuszi::gpu
