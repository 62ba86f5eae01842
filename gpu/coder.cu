#include "gpu/coder.cuh"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

const HuffmanParams& huffman_of(const CoderParams& params) {
  if (const auto* const huffman = std::get_if<HuffmanParams>(&params)) return *huffman;
  throw DeviceError(std::string(name_of(params)) + " is not on the GPU yet", Setting::backend);
}

}  // namespace

Sections encode_symbols(Work& work, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<const QuantCode> symbols,
                        std::span<const std::uint64_t> histogram) {
  const HuffmanStream stream =
      huffman_encode(work, huffman_of(params), tuning, symbols.data(), symbols.size(), histogram);
  Sections sections;
  add_section(SectionId::codebook, stream.codebook, sections);
  add_section(SectionId::index, stream.index, sections);
  add_section(SectionId::codes, stream.codes, sections);
  return sections;
}

void decode_symbols(Work& work, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols) {
  huffman_decode(work, huffman_of(params), sections, symbols.data(), symbols.size());
}

}  // namespace cuszi::gpu
