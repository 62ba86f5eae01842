#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

/// How often each token of quant-codes occurs in each context of each pass. Waits.
std::vector<std::vector<Counts>> count_tokens(Work& work, std::span<const PassSymbols> passes,
                                              std::uint32_t centre);

}  // namespace cuszi::gpu
