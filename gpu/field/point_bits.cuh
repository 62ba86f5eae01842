#pragma once

#include "core/field/point_bits.hpp"
#include "gpu/field/ranked_bits.cuh"

namespace cuszi::gpu {

/// coded_form() of bits on the device, whose words behind the last point are 0. The host waits
/// three times.
PointBits coded_form(DeviceContext& gpu, const std::uint64_t* words, const Dims& dims);

/// Writes all bits to `words` on the device, which are 0. Sets a flaw if places leave the frame.
void expand_bits(DeviceContext& gpu, const PointBits& bits, const Dims& dims, std::uint64_t* words);

}  // namespace cuszi::gpu
