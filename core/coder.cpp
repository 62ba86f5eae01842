#include "core/coder.hpp"

namespace cuszi {

CoderId id_of(const CoderParams& params) {
  return std::visit([](const auto& p) { return static_cast<CoderId>(p.id); }, params);
}

std::string_view name_of(CoderId id) {
  return id == CoderId::ans ? AnsParams::name : HuffmanParams::name;
}

std::string_view name_of(const CoderParams& params) {
  return std::visit([](const auto& p) { return p.name; }, params);
}

bool uses_contexts(const CoderParams& params) {
  return std::visit([](const auto& p) { return p.uses_contexts; }, params);
}

CoderParams coder_params(CoderId id, const HuffmanConfig& config, std::uint32_t centre) {
  if (id == CoderId::ans) return AnsParams{centre, config.index, config.partition};
  return HuffmanParams{config.chunk, config.index, config.partition};
}

void write_coder(const CoderParams& params, ByteWriter& out) {
  std::visit(
      [&](const auto& p) {
        out.put(p.id);
        p.write(out);
      },
      params);
}

CoderParams read_coder(ByteReader& in) {
  const auto id = in.get<std::uint8_t>();
  if (id == HuffmanParams::id) return HuffmanParams::read(in);
  if (id == AnsParams::id) return AnsParams::read(in);
  throw ArchiveError("entropy coder " + std::to_string(id) + " is unknown to this version");
}

}  // namespace cuszi
