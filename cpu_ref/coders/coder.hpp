#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/backend/decode_session.hpp"
#include "core/coders/coder.hpp"
#include "cpu_ref/base/workspace.hpp"
#include "cpu_ref/coders/ans.hpp"

namespace cuszi::cpu {

/// The sections that a coder makes of the passes of a level, for each of them. It may put their
/// codes in another order. Does not depend on the number of threads. Throws UsageError if `tuning`
/// does not fit.
std::vector<std::vector<OwnedSection>> encode_level(const CoderParams& params,
                                                    const HuffmanTuning& tuning,
                                                    std::span<const PassCodes> passes);

/// The number of bytes that encode_level() would make of these passes, about.
std::uint64_t coded_bytes(const CoderParams& params, const HuffmanTuning& tuning,
                          std::span<const PassCodes> passes);

/// The codes of a level that are decoded as far as they can be without contexts. A call moves the
/// codes of pass number `pass` of the level to their code positions in `codes`, which follow from
/// `contexts` (none: a single one), and throws ArchiveError if the numbers of codes differ.
using DecodedLevel = std::function<void(std::size_t pass, std::span<const std::uint8_t> contexts,
                                        std::span<QuantCode> codes)>;

/// Decodes the codes that encode_level() has written, still in the order of the chain. `params` and
/// `level` must outlive the result. Throws ArchiveError.
DecodedLevel decode_level(const CoderParams& params, const CodedLevel& level);

}  // namespace cuszi::cpu
