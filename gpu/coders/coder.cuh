#pragma once

#include <functional>
#include <optional>

#include "core/coders/coder.hpp"
#include "gpu/coders/codebook.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Begins to make the codebook of a coder that has one, for quant-codes that occur as often as
/// `histogram`, on the device, says.
std::optional<DeviceCodebook> start_codebook(Work& work, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram);

/// The sections that a coder makes of the quant-codes of a pass of so many points. Waits for the
/// codebook. Throws UsageError if `tuning` does not fit.
Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points);
/// The same, given how often the quant-codes occur.
Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points);

/// The inverse, which begins by asking for what the host must know: to be called after the next
/// sync(). Damage that kernels find becomes a flaw; throws ArchiveError for the rest.
using PendingSymbols = std::function<void(std::span<QuantCode> symbols)>;
PendingSymbols start_decoding(Work& work, const CoderParams& params, const Sections& sections,
                              std::uint64_t points);
/// The same; waits.
void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points);

}  // namespace cuszi::gpu
