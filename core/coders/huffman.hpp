#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/hd.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

/// Canonical Huffman coding in independent chunks (cuSZ, Tian et al., IPDPS'21, section 3.2): code
/// lengths, codewords (most significant bit first), an index of the chunks' first bits.
struct HuffmanParams {
  static constexpr std::string_view name = "huffman";
  static constexpr CoderId id = CoderId::huffman;
  static constexpr bool uses_contexts = false;

  std::uint32_t chunk = 1024;  ///< symbols; a power of two
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  static HuffmanParams draft(const FrameConfig& config, std::uint32_t /*centre*/) {
    return {config.huffman.chunk, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static HuffmanParams read(ByteReader& in);
};

inline constexpr int max_code_length = 56;

/// All 16-bit quant-codes.
inline constexpr std::size_t huffman_alphabet = std::size_t{1} << 16;

/// Code lengths by symbol, 0 for absent ones. Normative: two-queue merge by frequency, then symbol;
/// a leaf precedes an inner node of equal frequency. A lone symbol has length 1.
std::vector<std::uint8_t> code_lengths(std::span<const std::uint64_t> histogram);

/// Shorter codewords are numerically smaller, so that runs of the commonest symbol are zero bits.
struct CanonicalCode {
  std::array<std::uint64_t, max_code_length + 1> first_code{};   ///< [length]
  std::array<std::uint32_t, max_code_length + 1> first_index{};  ///< [length], in `symbols`
  std::array<std::uint32_t, max_code_length + 1> count{};        ///< [length]
  std::vector<QuantCode> symbols;                                ///< by length, then symbol
  int longest = 0;

  /// Throws ArchiveError unless the prefix code is complete.
  explicit CanonicalCode(std::span<const std::uint8_t> lengths);
};

/// A codeword with its length in the highest byte.
template <class Unit>
struct Codeword {
  static constexpr int code_bits = 8 * static_cast<int>(sizeof(Unit)) - 8;

  static constexpr Unit pack(std::uint64_t code, int length) {
    return static_cast<Unit>(static_cast<Unit>(code) | (static_cast<Unit>(length) << code_bits));
  }
  static constexpr int length(Unit unit) { return static_cast<int>(unit >> code_bits); }
  static constexpr Unit code(Unit unit) { return unit & ((Unit{1} << code_bits) - 1); }
};

/// Whether codewords of up to `longest` bits are stored in 32-bit units.
constexpr bool use_narrow_units(HuffmanWidth width, int longest) {
  return width == HuffmanWidth::u32 ||
         (width == HuffmanWidth::automatic && longest <= Codeword<std::uint32_t>::code_bits);
}

/// Codewords by symbol. Throws UsageError if the longest does not fit a unit.
template <class Unit>
std::vector<Unit> codewords(std::span<const std::uint8_t> lengths);

std::vector<std::byte> write_lengths(std::span<const std::uint8_t> lengths);
/// For a string without symbols, which has no index or codes.
std::vector<std::byte> empty_codebook();
/// Lengths up to the last symbol that occurs, at most `symbols`. Throws ArchiveError.
std::vector<std::uint8_t> read_lengths(Bytes bytes, std::size_t symbols = huffman_alphabet);

struct DecodedSymbol {
  QuantCode symbol;
  std::uint8_t length;  ///< bits; 0 in a lookup table: longer than the index
};

struct CanonicalCodeView {
  const std::uint64_t* first_code;
  const std::uint32_t* first_index;
  const std::uint32_t* count;
  const QuantCode* symbols;
  int longest;

  /// Decodes the first codeword of `window`, at least `shortest` bits long.
  CUSZI_HD DecodedSymbol find(std::uint64_t window, int shortest) const {
    for (int length = shortest; length <= longest; ++length) {
      const std::uint64_t offset = (window >> (64 - length)) - first_code[length];
      if (offset < count[length]) {
        return {symbols[first_index[length] + offset], static_cast<std::uint8_t>(length)};
      }
    }
    return {0, 1};  // unreachable: the code is complete
  }
};

/// Looks up the next `lookup_bits` bits; longer codewords are searched.
class HuffmanDecoder {
 public:
  static constexpr int lookup_bits = 12;

  explicit HuffmanDecoder(const CanonicalCode& code);

  /// `window` holds the next 64 bits, left-aligned.
  DecodedSymbol decode(std::uint64_t window) const {
    const DecodedSymbol entry = table_[window >> (64 - lookup_bits)];
    return entry.length != 0 ? entry : decode_long(window);
  }

  std::span<const DecodedSymbol> table() const { return table_; }

 private:
  DecodedSymbol decode_long(std::uint64_t window) const;

  CanonicalCode code_;
  std::vector<DecodedSymbol> table_;
};

}  // namespace cuszi
