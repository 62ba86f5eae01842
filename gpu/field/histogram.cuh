#pragma once

#include <span>

#include "core/field/quantizer.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Counts how often each of `bins` symbols occurs; the counts stay on the device.
std::span<const std::uint64_t> count_symbols(DeviceContext& gpu, const QuantCode* symbols,
                                             std::uint64_t count, std::uint32_t bins);

}  // namespace cuszi::gpu
