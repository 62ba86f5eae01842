#pragma once

#include "core/coder.hpp"
#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// The sections that a coder makes of `count` quant-codes that occur as often as `histogram` says.
/// Throws UsageError if `tuning` does not fit, DeviceError if the coder has no kernels.
Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<const QuantCode> symbols,
                        std::span<const std::uint64_t> histogram);

/// The inverse. Damage that kernels find becomes a flaw; throws ArchiveError for the rest.
void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols);

}  // namespace cuszi::gpu
