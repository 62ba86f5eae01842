#pragma once

#include <variant>

#include "core/coders/ans.hpp"
#include "core/coders/huffman.hpp"

namespace cuszi {

/// No coder: the predictor makes whole sections by itself.
struct NoCoderParams {
  static constexpr std::string_view name = "none";
  static constexpr CoderId id = CoderId::none;
  static constexpr bool uses_contexts = false;

  static NoCoderParams draft(const FrameConfig& /*config*/, std::uint32_t /*centre*/) { return {}; }

  void write(ByteWriter& /*out*/) const {}
  static NoCoderParams read(ByteReader& /*in*/) { return {}; }
};

/// The table of entropy coders, in the order of their ids: what an archive says of each. A new
/// coder is one more row here, a file of the same name in each backend, and its tests. A row has
/// the members that NoCoderParams has.
using CoderParams = std::variant<HuffmanParams, AnsParams, NoCoderParams>;

CoderId id_of(const CoderParams& params);
std::string_view name_of(CoderId id);
std::string_view name_of(const CoderParams& params);
/// Whether the coder wants a context for every quant-code.
bool uses_contexts(const CoderParams& params);

/// The coder's parameters for the codes of a predictor whose errors of 0 have the code `centre`.
CoderParams coder_params(CoderId id, const FrameConfig& config, std::uint32_t centre);

void write_coder(const CoderParams& params, ByteWriter& out);
/// Reads what write_coder() writes. Throws ArchiveError, also for a coder that this version does
/// not know.
CoderParams read_coder(ByteReader& in);

}  // namespace cuszi
