#pragma once

#include <span>
#include <vector>

#include "core/coder.hpp"
#include "cpu_ref/workspace.hpp"

namespace cuszi::cpu {

/// The contexts of a string of quant-codes.
struct SymbolContexts {
  std::span<const std::uint8_t> of;  ///< each symbol; none: all have the same
  std::size_t count = 1;             ///< how many contexts there are
};

/// The sections that a coder makes of a string of quant-codes. Does not depend on the number of
/// threads. Throws UsageError if `tuning` does not fit.
std::vector<OwnedSection> encode_symbols(const CoderParams& params, const HuffmanTuning& tuning,
                                         std::span<const QuantCode> symbols,
                                         const SymbolContexts& contexts);

/// The inverse, filling `symbols`. Throws ArchiveError.
void decode_symbols(const CoderParams& params, const Sections& sections,
                    const SymbolContexts& contexts, std::span<QuantCode> symbols);

}  // namespace cuszi::cpu
