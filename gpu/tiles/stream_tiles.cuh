#pragma once

#include <cuda_runtime_api.h>

#include "core/backend/stream_coder.hpp"

namespace cuszi::gpu {

/// Bytes of the device's memory that coding, or restoring, a frame takes until it is done.
ByteCount scratch_for_encoding(const FrameShape& shape);
ByteCount scratch_for_decoding(const FrameShape& shape);

/// Gives kernels to the frame's stream that do all of it. `first_failure` is a word that the device
/// reaches, and where it writes the first failure of many calls, see StreamOutcome.
void start_to_encode(const StreamEncoding& frame, std::byte* scratch, std::uint64_t* first_failure);
void start_to_decode(const StreamDecoding& frame, std::byte* scratch, std::uint64_t* first_failure);

}  // namespace cuszi::gpu
