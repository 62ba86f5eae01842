#pragma once

#include <variant>

#include "core/coders/ans_chain.hpp"
#include "core/coders/huffman.hpp"

namespace cuszi {

struct NoCoderParams {
  static constexpr std::string_view name = "none";
  static constexpr CoderId id = CoderId::none;
  static constexpr bool uses_contexts = false;

  static NoCoderParams draft(const FrameConfig& /*config*/, std::uint32_t /*centre*/) { return {}; }

  void write(ByteWriter& /*out*/) const {}
  static NoCoderParams read(ByteReader& /*in*/) { return {}; }
};

/// In the order of CoderId. A new coder is a row with the members of NoCoderParams, a file of the
/// same name in each backend, and its tests.
using CoderParams = std::variant<HuffmanParams, AnsParams, NoCoderParams>;

CoderId id_of(const CoderParams& params);
std::string_view name_of(CoderId id);
std::string_view name_of(const CoderParams& params);
bool uses_contexts(const CoderParams& params);

/// `centre` is the quant-code of an error of 0.
CoderParams coder_params(CoderId id, const FrameConfig& config, std::uint32_t centre);

void write_coder(const CoderParams& params, ByteWriter& out);
/// Throws ArchiveError, also for an unknown coder.
CoderParams read_coder(ByteReader& in);

}  // namespace cuszi
