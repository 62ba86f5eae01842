#pragma once

#include <span>

#include "core/field/quantizer.hpp"
#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// Counts how often each of `bins` symbols occurs; the counts stay on the device.
std::span<const std::uint64_t> count_symbols(Work& work, const QuantCode* symbols,
                                             std::uint64_t count, std::uint32_t bins);

}  // namespace cuszi::gpu
