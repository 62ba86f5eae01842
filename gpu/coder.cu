#include <stdexcept>

#include "gpu/ans.cuh"
#include "gpu/coder.cuh"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

Sections encode_by(Work& work, const HuffmanParams& params, const HuffmanTuning& tuning,
                   std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                   std::uint64_t /*points*/) {
  const HuffmanStream stream =
      huffman_encode(work, params, tuning, symbols.data(), symbols.size(), book.value());
  Sections sections;
  add_section(SectionId::codebook, stream.codebook, sections);
  add_section(SectionId::index, stream.index, sections);
  add_section(SectionId::codes, stream.codes, sections);
  return sections;
}

void decode_by(Work& work, const HuffmanParams& params, const Sections& sections,
               std::span<QuantCode> symbols, std::uint64_t /*points*/) {
  huffman_decode(work, params, sections, symbols.data(), symbols.size());
}

Sections encode_by(Work& work, const AnsParams& params, const HuffmanTuning& /*tuning*/,
                   std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& /*book*/,
                   std::uint64_t points) {
  const LevelSymbols level{{symbols.data(), nullptr, symbols.size(), {points, 1}}};
  const AnsStream stream = ans_encode(work, params, std::span(&level, 1)).front();
  Sections sections;
  add_section(SectionId::index, stream.index, sections);
  add_section(SectionId::codes, stream.codes, sections);
  return sections;
}

void decode_by(Work& work, const AnsParams& params, const Sections& sections,
               std::span<QuantCode> symbols, std::uint64_t points) {
  const PassShape shape{points, 1};
  const CodedLevel level{std::span(&shape, 1), std::span(&sections, 1)};
  const AnsCodes decoded(work, params, std::span(&level, 1));
  decoded.place(0, nullptr, symbols.size(), symbols.data());
}

[[noreturn]] void refuse_codes() { throw std::logic_error("quant-codes need a coder"); }

Sections encode_by(Work& /*work*/, const NoCoderParams& /*params*/, const HuffmanTuning& /*tuning*/,
                   std::span<QuantCode> /*symbols*/, const std::optional<DeviceCodebook>& /*book*/,
                   std::uint64_t /*points*/) {
  refuse_codes();
}

void decode_by(Work& /*work*/, const NoCoderParams& /*params*/, const Sections& /*sections*/,
               std::span<QuantCode> /*symbols*/, std::uint64_t /*points*/) {
  refuse_codes();
}

}  // namespace

std::optional<DeviceCodebook> start_codebook(Work& work, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram) {
  if (!std::holds_alternative<HuffmanParams>(params)) return std::nullopt;
  return make_codebook(work, histogram.data(), static_cast<std::uint32_t>(histogram.size()));
}

Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points) {
  return std::visit(
      [&](const auto& p) { return encode_by(work, p, tuning, symbols, book, points); }, params);
}

Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points) {
  const auto book = start_codebook(work, params, histogram);
  work.sync();
  return encode_symbols(work, params, tuning, symbols, book, points);
}

void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points) {
  std::visit([&](const auto& p) { decode_by(work, p, sections, symbols, points); }, params);
}

}  // namespace cuszi::gpu
