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

/// Canonical Huffman coding of quant-codes in independent chunks (cuSZ 3.2; Tian et al., IPDPS'21).
/// The archive holds the table of code lengths, the codewords of all chunks without gaps (the first
/// bit of a codeword is the highest free bit of its byte), and an index of the chunks' first bits.
struct HuffmanParams {
  static constexpr std::string_view name = "huffman";
  static constexpr CoderId id = CoderId::huffman;
  static constexpr bool uses_contexts = false;

  std::uint32_t chunk = 1024;  ///< symbols per chunk, a power of two
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  /// What the user has chosen; Huffman codes need no centre.
  static HuffmanParams draft(const FrameConfig& config, std::uint32_t /*centre*/) {
    return {config.huffman.chunk, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// Reads parameters as write() writes them. Throws ArchiveError.
  static HuffmanParams read(ByteReader& in);
};

inline constexpr int max_code_length = 56;

/// Quant-codes that there can be.
inline constexpr std::size_t huffman_alphabet = std::size_t{1} << 16;

/// The code length of every symbol, 0 for symbols that do not occur. Symbols sorted by frequency,
/// then by symbol, are merged with two queues; between equals a leaf goes before an inner node. Any
/// method that gives the same lengths will do. A lone symbol gets length 1.
std::vector<std::uint8_t> code_lengths(std::span<const std::uint64_t> histogram);

/// Codewords by length: those of one length are consecutive, in the order of their symbols, and
/// shorter ones are numerically smaller, so that runs of the commonest symbol are zero bits (of the
/// lowest one, where several share the shortest length).
struct CanonicalCode {
  std::array<std::uint64_t, max_code_length + 1> first_code{};   ///< [length]
  std::array<std::uint32_t, max_code_length + 1> first_index{};  ///< [length] in `symbols`
  std::array<std::uint32_t, max_code_length + 1> count{};        ///< [length]
  std::vector<QuantCode> symbols;                                ///< by length, then by symbol
  int longest = 0;

  /// Throws ArchiveError if the lengths are not those of a complete prefix code.
  explicit CanonicalCode(std::span<const std::uint8_t> lengths);
};

/// A codeword and its length in one machine word: the length in the highest byte.
template <class Unit>
struct Codeword {
  static constexpr int code_bits = 8 * static_cast<int>(sizeof(Unit)) - 8;

  static constexpr Unit pack(std::uint64_t code, int length) {
    return static_cast<Unit>(static_cast<Unit>(code) | (static_cast<Unit>(length) << code_bits));
  }
  static constexpr int length(Unit unit) { return static_cast<int>(unit >> code_bits); }
  static constexpr Unit code(Unit unit) { return unit & ((Unit{1} << code_bits) - 1); }
};

/// Whether to keep codewords, the longest of `longest` bits, in 32-bit units.
constexpr bool use_narrow_units(HuffmanWidth width, int longest) {
  return width == HuffmanWidth::u32 ||
         (width == HuffmanWidth::automatic && longest <= Codeword<std::uint32_t>::code_bits);
}

/// The encoder's table: the codeword of every symbol. Throws UsageError if the longest does not fit
/// the unit.
template <class Unit>
std::vector<Unit> codewords(std::span<const std::uint8_t> lengths);

/// The length table, run-length coded.
std::vector<std::byte> write_lengths(std::span<const std::uint8_t> lengths);
/// The table of a string without symbols, which has neither index nor codes.
std::vector<std::byte> empty_codebook();
/// Reads the lengths of the symbols up to the last one that occurs, of at most `symbols`. Throws
/// ArchiveError.
std::vector<std::uint8_t> read_lengths(Bytes bytes, std::size_t symbols = huffman_alphabet);

/// A decoded symbol and the bits it took.
struct DecodedSymbol {
  QuantCode symbol;
  std::uint8_t length;  ///< in a lookup table, 0: the codeword is longer than the table's index
};

/// A CanonicalCode as any processor reads it.
struct CanonicalCodeView {
  const std::uint64_t* first_code;
  const std::uint32_t* first_index;
  const std::uint32_t* count;
  const QuantCode* symbols;
  int longest;

  /// Searches the codeword, of at least `shortest` bits, that the bits of `window` begin with.
  CUSZI_HD DecodedSymbol find(std::uint64_t window, int shortest) const {
    for (int length = shortest; length <= longest; ++length) {
      const std::uint64_t offset = (window >> (64 - length)) - first_code[length];
      if (offset < count[length]) {
        return {symbols[first_index[length] + offset], static_cast<std::uint8_t>(length)};
      }
    }
    return {0, 1};  // cannot be reached: the code is complete
  }
};

/// Decodes one symbol by a table over the next `lookup_bits` bits, by canonical search where the
/// codeword is longer.
class HuffmanDecoder {
 public:
  static constexpr int lookup_bits = 12;

  explicit HuffmanDecoder(const CanonicalCode& code);

  /// `window` holds the next 64 bits of the stream, the first one highest.
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
