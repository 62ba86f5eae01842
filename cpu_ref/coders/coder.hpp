#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/backend/decode_session.hpp"
#include "core/coders/coder.hpp"
#include "core/coders/huffman.hpp"
#include "cpu_ref/base/workspace.hpp"
#include "cpu_ref/coders/ans.hpp"

namespace cuszi::cpu {

struct HuffmanStream {
  std::vector<std::byte> codebook;
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Independent of the number of threads. Throws UsageError if a codeword does not fit `width`.
HuffmanStream huffman_encode(const HuffmanParams& params, HuffmanWidth width,
                             std::span<const QuantCode> symbols);

/// Fills `symbols`. Throws ArchiveError.
void huffman_decode(const HuffmanParams& params, Bytes codebook, Bytes index, Bytes codes,
                    std::span<QuantCode> symbols);

/// May reorder the codes. Independent of the number of threads. Throws UsageError if `tuning` does
/// not fit.
std::vector<std::vector<OwnedSection>> encode_level(const CoderParams& params,
                                                    const HuffmanTuning& tuning,
                                                    std::span<const PassCodes> passes);

std::uint64_t coded_bytes(const CoderParams& params, const HuffmanTuning& tuning,
                          std::span<const PassCodes> passes);

/// Moves a pass's codes to their positions, by `contexts` (empty: one context). Throws ArchiveError
/// if the counts disagree.
using DecodedLevel = std::function<void(std::size_t pass, std::span<const std::uint8_t> contexts,
                                        std::span<QuantCode> codes)>;

/// `params` and `level` must outlive the result. Throws ArchiveError.
DecodedLevel decode_level(const CoderParams& params, const CodedLevel& level);

}  // namespace cuszi::cpu
