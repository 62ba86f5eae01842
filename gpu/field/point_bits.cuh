#pragma once

#include "core/field/point_bits.hpp"
#include "gpu/field/ranked_bits.cuh"

namespace cuszi::gpu {

/// `words`, on the device, must be zero-padded. Synchronises three times.
PointBits coded_form(DeviceContext& gpu, const std::uint64_t* words, const Dims& dims);

/// Writes all bits to `words`, which must be zeroed, on the device. Sets a flaw if a position is
/// out of range.
void expand_bits(DeviceContext& gpu, const PointBits& bits, const Dims& dims, std::uint64_t* words);

}  // namespace cuszi::gpu
