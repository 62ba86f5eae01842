#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// Interleaved rANS (Duda 2013; Giesen 2014) of quant-codes, with static tables per context.
struct AnsParams {
  static constexpr std::string_view name = "ans";
  static constexpr CoderId id = CoderId::ans;
  static constexpr bool uses_contexts = true;

  std::uint32_t centre = 0;  ///< the code of a prediction error of 0
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  static AnsParams draft(const FrameConfig& config, std::uint32_t centre) {
    return {centre, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static AnsParams read(ByteReader& in);
};

}  // namespace cuszi
