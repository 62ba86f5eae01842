#include "cpu_ref/coder.hpp"

#include <stdexcept>

#include "cpu_ref/ans.hpp"
#include "cpu_ref/huffman.hpp"

namespace cuszi::cpu {

namespace {

std::vector<OwnedSection> encode_by(const HuffmanParams& params, const HuffmanTuning& tuning,
                                    std::span<const QuantCode> symbols,
                                    const SymbolContexts& /*contexts*/) {
  HuffmanStream stream = huffman_encode(params, tuning.width, symbols);
  return {{SectionId::codebook, std::move(stream.codebook)},
          {SectionId::index, std::move(stream.index)},
          {SectionId::codes, std::move(stream.codes)}};
}

std::vector<OwnedSection> encode_by(const AnsParams& params, const HuffmanTuning& /*tuning*/,
                                    std::span<const QuantCode> symbols,
                                    const SymbolContexts& contexts) {
  AnsStream stream = ans_encode(params, symbols, contexts.of, contexts.count);
  return {{SectionId::index, std::move(stream.index)}, {SectionId::codes, std::move(stream.codes)}};
}

[[noreturn]] void refuse_symbols() { throw std::logic_error("quant-codes need a coder"); }

std::vector<OwnedSection> encode_by(const NoCoderParams& /*params*/,
                                    const HuffmanTuning& /*tuning*/,
                                    std::span<const QuantCode> /*symbols*/,
                                    const SymbolContexts& /*contexts*/) {
  refuse_symbols();
}

void decode_by(const HuffmanParams& params, const Sections& sections,
               const SymbolContexts& /*contexts*/, std::span<QuantCode> symbols) {
  if (symbols.empty()) return;
  huffman_decode(params, sections.at(SectionId::codebook), sections.find(SectionId::index),
                 sections.find(SectionId::codes), symbols);
}

void decode_by(const AnsParams& params, const Sections& sections, const SymbolContexts& contexts,
               std::span<QuantCode> symbols) {
  ans_decode(params, sections.find(SectionId::index), sections.find(SectionId::codes), contexts.of,
             contexts.count, symbols);
}

void decode_by(const NoCoderParams& /*params*/, const Sections& /*sections*/,
               const SymbolContexts& /*contexts*/, std::span<QuantCode> /*symbols*/) {
  refuse_symbols();
}

}  // namespace

std::vector<OwnedSection> encode_symbols(const CoderParams& params, const HuffmanTuning& tuning,
                                         std::span<const QuantCode> symbols,
                                         const SymbolContexts& contexts) {
  return std::visit([&](const auto& p) { return encode_by(p, tuning, symbols, contexts); }, params);
}

void decode_symbols(const CoderParams& params, const Sections& sections,
                    const SymbolContexts& contexts, std::span<QuantCode> symbols) {
  std::visit([&](const auto& p) { decode_by(p, sections, contexts, symbols); }, params);
}

}  // namespace cuszi::cpu
