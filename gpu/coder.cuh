#pragma once

#include "core/coder.hpp"
#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// The sections that a coder makes of quant-codes that occur as often as `histogram` says, in a
/// pass of so many points. Throws UsageError if `tuning` does not fit.
Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points);

/// The inverse. Damage that kernels find becomes a flaw; throws ArchiveError for the rest.
void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points);

}  // namespace cuszi::gpu
