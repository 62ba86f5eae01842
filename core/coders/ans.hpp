#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// Interleaved range asymmetric numeral systems (Duda 2013; Giesen 2014) with static tables per
/// context, for any predictor's quant-codes.
struct AnsParams {
  static constexpr std::string_view name = "ans";
  static constexpr CoderId id = CoderId::ans;
  static constexpr bool uses_contexts = true;

  std::uint32_t centre = 0;  ///< the code of a prediction error of 0: the predictor's radius
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  /// What the user has chosen, for codes around `centre`.
  static AnsParams draft(const FrameConfig& config, std::uint32_t centre) {
    return {centre, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// Reads parameters as write() writes them. Throws ArchiveError.
  static AnsParams read(ByteReader& in);
};

}  // namespace cuszi
