#include "gpu/coder.cuh"
#include "gpu/host_steps.hpp"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

Sections encode_by(Work& work, const HuffmanParams& params, const HuffmanTuning& tuning,
                   std::span<const QuantCode> symbols, std::span<const std::uint64_t> histogram,
                   std::uint64_t /*points*/) {
  const HuffmanStream stream =
      huffman_encode(work, params, tuning, symbols.data(), symbols.size(), histogram);
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

/// Of coders that have no kernels yet.
template <class Params>
Sections encode_by(Work& work, const Params& params, const HuffmanTuning& tuning,
                   std::span<const QuantCode> symbols, std::span<const std::uint64_t> /*histogram*/,
                   std::uint64_t points) {
  std::vector<QuantCode> codes(symbols.size());
  work.copy(codes.data(), symbols.data(), codes.size());
  work.sync();
  Sections sections;
  const HostSymbols pass{codes, {}, {}, {points, 1}};
  const auto sections_of_passes = encode_on_host(params, tuning, std::span(&pass, 1));
  for (const HostSection& section : sections_of_passes.front()) {
    const ByteCount size = section.bytes.size();
    add_section(section.id, Bytes(work.upload(section.bytes.data(), size), size), sections);
  }
  return sections;
}

template <class Params>
void decode_by(Work& work, const Params& params, const Sections& sections,
               std::span<QuantCode> symbols, std::uint64_t points) {
  Sections on_host;
  for (const Section& section : sections.list()) {
    const ByteCount size = section.bytes.size();
    on_host.add(section.id, Bytes(work.download(section.bytes.data(), size), size));
  }
  work.sync();
  std::vector<QuantCode> codes(symbols.size());
  const PassShape shape{points, 1};
  const CoderParams coder = params;
  decode_on_host(coder, {std::span(&shape, 1), std::span(&on_host, 1)})
      ->place(0, {codes, {}, {}, shape});
  work.copy(symbols.data(), codes.data(), codes.size());
  work.sync();
}

}  // namespace

Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<const QuantCode> symbols,
                        std::span<const std::uint64_t> histogram, std::uint64_t points) {
  return std::visit(
      [&](const auto& p) { return encode_by(work, p, tuning, symbols, histogram, points); },
      params);
}

void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points) {
  std::visit([&](const auto& p) { decode_by(work, p, sections, symbols, points); }, params);
}

}  // namespace cuszi::gpu
