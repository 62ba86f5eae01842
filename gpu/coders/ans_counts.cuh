#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

/// Counts how often each token of the quant-codes occurs, per pass and context. Waits.
std::vector<std::vector<Counts>> count_tokens(DeviceContext& gpu,
                                              std::span<const PassSymbols> passes,
                                              std::uint32_t centre);

}  // namespace cuszi::gpu
