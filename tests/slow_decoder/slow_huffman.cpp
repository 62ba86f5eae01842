#include "core/base/bits.hpp"
#include "core/coders/huffman.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

/// Bit by bit, from the first codeword to the last, whatever the index says.
std::vector<QuantCode> decode_huffman(const Sections& sections, std::uint64_t count) {
  std::vector<QuantCode> symbols;
  if (count == 0) return symbols;
  const CanonicalCode code(read_lengths(sections.at(SectionId::codebook)));
  BitReader bits(sections.find(SectionId::codes), "the quant-codes");
  while (symbols.size() < count) {
    std::uint64_t word = 0;
    for (std::size_t length = 1;; ++length) {
      word = word << 1 | bits.get(1);
      if (word - code.first_code.at(length) < code.count.at(length)) {
        symbols.push_back(
            code.symbols.at(code.first_index.at(length) + word - code.first_code.at(length)));
        break;
      }
    }
  }
  bits.expect_end();
  return symbols;
}

}  // namespace cuszi::slow
