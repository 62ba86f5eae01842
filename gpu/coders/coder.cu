#include <stdexcept>

#include "gpu/coders/ans.cuh"
#include "gpu/coders/coder.cuh"

namespace cuszi::gpu {

namespace {

Sections encode_by(DeviceContext& gpu, const HuffmanParams& params, const HuffmanTuning& tuning,
                   std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                   std::uint64_t /*points*/) {
  const HuffmanStream stream =
      huffman_encode(gpu, params, tuning, symbols.data(), symbols.size(), book.value());
  Sections sections;
  add_section(SectionId::codebook, stream.codebook, sections);
  add_section(SectionId::index, stream.index, sections);
  add_section(SectionId::codes, stream.codes, sections);
  return sections;
}

PendingSymbols start_by(DeviceContext& gpu, const HuffmanParams& params, const Sections& sections,
                        std::uint64_t /*points*/) {
  return [pending = PendingHuffman(gpu, params, sections)](std::span<QuantCode> symbols) {
    pending.decode(symbols.data(), symbols.size());
  };
}

Sections encode_by(DeviceContext& gpu, const AnsParams& params, const HuffmanTuning& /*tuning*/,
                   std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& /*book*/,
                   std::uint64_t points) {
  const LevelSymbols level{{symbols.data(), nullptr, symbols.size(), {points, 1}}};
  const AnsStream stream = ans_encode(gpu, params, std::span(&level, 1)).front();
  Sections sections;
  add_section(SectionId::index, stream.index, sections);
  add_section(SectionId::codes, stream.codes, sections);
  return sections;
}

PendingSymbols start_by(DeviceContext& gpu, const AnsParams& params, const Sections& sections,
                        std::uint64_t points) {
  return [=, &gpu, &sections](std::span<QuantCode> symbols) {
    const PassShape shape{points, 1};
    const CodedLevel level{std::span(&shape, 1), std::span(&sections, 1)};
    const AnsCodes decoded(gpu, params, std::span(&level, 1));
    decoded.place(0, nullptr, symbols.size(), symbols.data());
  };
}

[[noreturn]] void refuse_codes() { throw std::logic_error("quant-codes need a coder"); }

Sections encode_by(DeviceContext& /*gpu*/, const NoCoderParams& /*params*/,
                   const HuffmanTuning& /*tuning*/, std::span<QuantCode> /*symbols*/,
                   const std::optional<DeviceCodebook>& /*book*/, std::uint64_t /*points*/) {
  refuse_codes();
}

PendingSymbols start_by(DeviceContext& /*gpu*/, const NoCoderParams& /*params*/,
                        const Sections& /*sections*/, std::uint64_t /*points*/) {
  refuse_codes();
}

}  // namespace

std::optional<DeviceCodebook> start_codebook(DeviceContext& gpu, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram) {
  if (!std::holds_alternative<HuffmanParams>(params)) return std::nullopt;
  return make_codebook(gpu, histogram.data(), static_cast<std::uint32_t>(histogram.size()));
}

Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points) {
  return std::visit([&](const auto& p) { return encode_by(gpu, p, tuning, symbols, book, points); },
                    params);
}

Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points) {
  const auto book = start_codebook(gpu, params, histogram);
  return encode_symbols(gpu, params, tuning, symbols, book, points);
}

PendingSymbols start_decoding(DeviceContext& gpu, const CoderParams& params,
                              const Sections& sections, std::uint64_t points) {
  return std::visit([&](const auto& p) { return start_by(gpu, p, sections, points); }, params);
}

void decode_symbols(DeviceContext& gpu, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points) {
  const PendingSymbols pending = start_decoding(gpu, params, sections, points);
  gpu.sync();
  pending(symbols);
}

}  // namespace cuszi::gpu
