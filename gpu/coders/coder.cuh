#pragma once

#include <functional>
#include <optional>

#include "core/coders/coder.hpp"
#include "gpu/coders/codebook.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// For coders with a codebook, else nullopt. `histogram` is on the device.
std::optional<DeviceCodebook> start_codebook(DeviceContext& gpu, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram);

/// Synchronises for the codebook. Throws UsageError if `tuning` does not fit.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points);
/// `histogram` is on the device.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points);

/// Decodes into `symbols`; call it after the next sync().
using PendingSymbols = std::function<void(std::span<QuantCode> symbols)>;
/// Starts the downloads for a pass of `points` points. Damage becomes a flaw or throws
/// ArchiveError.
PendingSymbols start_decoding(DeviceContext& gpu, const CoderParams& params,
                              const Sections& sections, std::uint64_t points);
/// As start_decoding(), but synchronises and decodes.
void decode_symbols(DeviceContext& gpu, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points);

}  // namespace cuszi::gpu
