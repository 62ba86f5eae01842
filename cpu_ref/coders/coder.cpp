#include "cpu_ref/coders/coder.hpp"

#include <stdexcept>

namespace cuszi::cpu {

namespace {

using PassSections = std::vector<std::vector<OwnedSection>>;

PassSections encode_by(const HuffmanParams& params, const HuffmanTuning& tuning,
                       std::span<const PassCodes> passes) {
  PassSections all;
  for (const PassCodes& pass : passes) {
    HuffmanStream stream = huffman_encode(params, tuning.width, pass.codes);
    std::vector<OwnedSection>& sections = all.emplace_back();
    sections.push_back({SectionId::codebook, std::move(stream.codebook)});
    sections.push_back({SectionId::index, std::move(stream.index)});
    sections.push_back({SectionId::codes, std::move(stream.codes)});
  }
  return all;
}

PassSections encode_by(const AnsParams& params, const HuffmanTuning& /*tuning*/,
                       std::span<const PassCodes> passes) {
  AnsStream stream = ans_encode(params, passes);
  PassSections all(passes.size());
  all.front().push_back({SectionId::index, std::move(stream.index)});
  all.front().push_back({SectionId::codes, std::move(stream.codes)});
  return all;
}

[[noreturn]] void refuse_codes() { throw std::logic_error("quant-codes need a coder"); }

PassSections encode_by(const NoCoderParams& /*params*/, const HuffmanTuning& /*tuning*/,
                       std::span<const PassCodes> /*passes*/) {
  refuse_codes();
}

/// Decodes a pass on demand: its number of codes is not known before.
DecodedLevel decode_by(const HuffmanParams& params, const CodedLevel& level) {
  return [&params, passes = level.sections](std::size_t pass, std::span<const std::uint8_t>,
                                            std::span<QuantCode> codes) {
    if (codes.empty()) return;
    const Sections& sections = passes[pass];
    huffman_decode(params, sections.at(SectionId::codebook), sections.find(SectionId::index),
                   sections.find(SectionId::codes), codes);
  };
}

DecodedLevel decode_by(const AnsParams& params, const CodedLevel& level) {
  const Sections& sections = level.sections.front();
  return [decoded = AnsLevel(params, sections.find(SectionId::index),
                             sections.find(SectionId::codes), level.shapes)](
             std::size_t pass, std::span<const std::uint8_t> contexts, std::span<QuantCode> codes) {
    decoded.place(pass, contexts, codes);
  };
}

DecodedLevel decode_by(const NoCoderParams& /*params*/, const CodedLevel& /*level*/) {
  refuse_codes();
}

}  // namespace

PassSections encode_level(const CoderParams& params, const HuffmanTuning& tuning,
                          std::span<const PassCodes> passes) {
  return std::visit([&](const auto& p) { return encode_by(p, tuning, passes); }, params);
}

std::uint64_t coded_bytes(const CoderParams& params, const HuffmanTuning& tuning,
                          std::span<const PassCodes> passes) {
  if (const auto* const ans = std::get_if<AnsParams>(&params)) return ans_bytes(*ans, passes);
  std::uint64_t bytes = 0;
  for (const std::vector<OwnedSection>& sections : encode_level(params, tuning, passes)) {
    for (const OwnedSection& section : sections) bytes += section.bytes.size();
  }
  return bytes;
}

DecodedLevel decode_level(const CoderParams& params, const CodedLevel& level) {
  return std::visit([&](const auto& p) { return decode_by(p, level); }, params);
}

}  // namespace cuszi::cpu
