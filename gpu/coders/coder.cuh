#pragma once

#include <functional>
#include <optional>

#include "core/coders/coder.hpp"
#include "gpu/coders/codebook.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Starts to make the codebook of a coder that has one. `histogram`, on the device, counts the
/// quant-codes. Returns nothing for other coders.
std::optional<DeviceCodebook> start_codebook(DeviceContext& gpu, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram);

/// Codes the quant-codes of a pass of `points` points with a codebook that start_codebook() has
/// begun; returns the coder's sections. Waits for the codebook. Throws UsageError if `tuning` does
/// not fit.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points);
/// Codes the quant-codes of a pass of `points` points; makes the codebook from their histogram,
/// which is on the device. Waits. Throws UsageError if `tuning` does not fit.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points);

/// Decodes the quant-codes of a pass into `symbols`; to be called after the next sync().
using PendingSymbols = std::function<void(std::span<QuantCode> symbols)>;
/// Starts to decode the quant-codes of a pass of `points` points: asks for what the host must know.
/// Damage that kernels find becomes a flaw; throws ArchiveError for other damage.
PendingSymbols start_decoding(DeviceContext& gpu, const CoderParams& params,
                              const Sections& sections, std::uint64_t points);
/// Decodes the quant-codes of a pass of `points` points; waits. Damage that kernels find becomes a
/// flaw; throws ArchiveError for other damage.
void decode_symbols(DeviceContext& gpu, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points);

}  // namespace cuszi::gpu
