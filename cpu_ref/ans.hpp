#pragma once

#include <span>
#include <vector>

#include "core/ans.hpp"

namespace cuszi::cpu {

/// The sections that ANS coding makes of a string of quant-codes; none if all are the centre.
struct AnsStream {
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Codes `symbols`, each under its context (none: a single one). The result does not depend on the
/// number of threads.
AnsStream ans_encode(const AnsParams& params, std::span<const QuantCode> symbols,
                     std::span<const std::uint8_t> contexts, std::size_t context_count);

/// The inverse, filling `symbols`. Throws ArchiveError.
void ans_decode(const AnsParams& params, Bytes index, Bytes codes,
                std::span<const std::uint8_t> contexts, std::size_t context_count,
                std::span<QuantCode> symbols);

}  // namespace cuszi::cpu
