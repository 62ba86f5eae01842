#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/field/chunk_index.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/coders/coder.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t symbols_per_task = std::uint64_t{1} << 18;

std::vector<std::uint64_t> histogram_of(std::span<const QuantCode> symbols) {
  std::vector<std::uint64_t> total(huffman_alphabet, 0);
  parallel_for(
      ceil_div(symbols.size(), symbols_per_task),
      [] { return std::vector<std::uint64_t>(huffman_alphabet, 0); },
      [&](std::vector<std::uint64_t>& counts, std::uint64_t task) {
        const std::uint64_t first = task * symbols_per_task;
        for (const QuantCode symbol : symbols.subspan(
                 first, std::min<std::uint64_t>(symbols_per_task, symbols.size() - first))) {
          ++counts[symbol];
        }
      },
      [&](const std::vector<std::uint64_t>& counts) {
        for (std::size_t i = 0; i < huffman_alphabet; ++i) total[i] += counts[i];
      });
  return total;
}

std::span<const QuantCode> chunk_of(std::span<const QuantCode> symbols, std::uint64_t chunk_size,
                                    std::uint64_t i) {
  const std::uint64_t first = i * chunk_size;
  return symbols.subspan(first, std::min<std::uint64_t>(chunk_size, symbols.size() - first));
}

template <class Unit>
std::vector<std::uint32_t> bits_per_chunk(std::span<const QuantCode> symbols, std::uint32_t chunk,
                                          std::span<const Unit> units) {
  std::vector<std::uint32_t> bits(ceil_div(symbols.size(), chunk));
  parallel_for(bits.size(), [&](std::uint64_t i) {
    std::uint32_t sum = 0;
    for (const QuantCode symbol : chunk_of(symbols, chunk, i)) {
      sum += static_cast<std::uint32_t>(Codeword<Unit>::length(units[symbol]));
    }
    bits[i] = sum;
  });
  return bits;
}

/// Most significant bit first.
class CodewordWriter {
 public:
  /// Starts at bit `first_bit` (0..7) of `out`.
  CodewordWriter(std::byte* out, unsigned first_bit) : out_(out), pending_bits_(first_bit) {}

  void put(std::uint64_t code, int length) {
    if (length > half) {
      put_short(code >> half, length - half);
      put_short(code & 0xFFFFFFFFU, half);
    } else {
      put_short(code, length);
    }
  }

  void flush() {
    for (; pending_bits_ > 0; pending_bits_ -= std::min(pending_bits_, 8U)) {
      const std::uint64_t byte =
          pending_bits_ >= 8 ? pending_ >> (pending_bits_ - 8) : pending_ << (8 - pending_bits_);
      *out_++ = static_cast<std::byte>(byte & 0xFFU);
    }
  }

 private:
  static constexpr int half = 32;

  void put_short(std::uint64_t code, int length) {
    pending_ = (pending_ << length) | code;
    pending_bits_ += static_cast<unsigned>(length);
    if (pending_bits_ < half) return;
    pending_bits_ -= half;
    const std::uint32_t word =
        __builtin_bswap32(static_cast<std::uint32_t>(pending_ >> pending_bits_));
    std::memcpy(out_, &word, sizeof word);
    out_ += sizeof word;
  }

  std::byte* out_;
  std::uint64_t pending_ = 0;
  unsigned pending_bits_;
};

/// Each task encodes a run of chunks; runs are then joined at bit positions.
template <class Unit>
std::vector<std::byte> encode_chunks(std::span<const QuantCode> symbols, std::uint32_t chunk,
                                     std::span<const Unit> units,
                                     std::span<const std::uint32_t> chunk_bits) {
  const std::uint64_t chunks_per_task = std::max<std::uint64_t>(symbols_per_task / chunk, 1);
  const std::uint64_t tasks = ceil_div(chunk_bits.size(), chunks_per_task);
  std::vector<BitCount> starts(tasks + 1, 0);
  for (std::uint64_t i = 0; i < chunk_bits.size(); ++i) {
    starts[i / chunks_per_task + 1] += chunk_bits[i];
  }
  for (std::uint64_t task = 0; task < tasks; ++task) starts[task + 1] += starts[task];

  std::vector<std::byte> out(ceil_div(starts[tasks], 8));
  std::vector<std::byte> first_bytes(tasks);
  parallel_for(tasks, [&](std::uint64_t task) {
    const BitCount first_byte = starts[task] / 8;
    std::vector<std::byte> run(ceil_div(starts[task + 1], 8) - first_byte + 8);
    CodewordWriter writer(run.data(), static_cast<unsigned>(starts[task] % 8));
    for (const QuantCode symbol : chunk_of(symbols, chunks_per_task * chunk, task)) {
      const Unit unit = units[symbol];
      writer.put(Codeword<Unit>::code(unit), Codeword<Unit>::length(unit));
    }
    writer.flush();
    first_bytes[task] = run[0];
    std::copy(run.begin() + 1, run.end() - 8,
              out.begin() + static_cast<std::ptrdiff_t>(first_byte) + 1);
  });
  for (std::uint64_t task = 0; task < tasks; ++task) out[starts[task] / 8] |= first_bytes[task];
  return out;
}

template <class Unit>
void encode_with(const HuffmanParams& params, std::span<const std::uint8_t> lengths,
                 std::span<const QuantCode> symbols, HuffmanStream& stream) {
  const auto units = codewords<Unit>(lengths);
  const auto chunk_bits = bits_per_chunk<Unit>(symbols, params.chunk, units);
  stream.index = encode_index(params.index, params.partition, chunk_bits);
  stream.codes = encode_chunks<Unit>(symbols, params.chunk, units, chunk_bits);
}

/// Bits from `at` on, left-aligned, at least 57 valid; zeros past the end.
std::uint64_t window_at(Bytes stream, BitCount at) {
  const BitCount byte = at / 8;
  std::uint64_t word = 0;
  if (byte + sizeof word <= stream.size()) {
    std::memcpy(&word, stream.data() + byte, sizeof word);
  } else if (byte < stream.size()) {
    std::memcpy(&word, stream.data() + byte, stream.size() - byte);
  }
  return __builtin_bswap64(word) << (at % 8);
}

/// Returns the bit behind the last symbol.
BitCount decode_run(const HuffmanDecoder& decoder, int symbols_per_window, Bytes stream,
                    BitCount at, std::span<QuantCode> symbols) {
  std::size_t i = 0;
  while (i < symbols.size()) {
    std::uint64_t window = window_at(stream, at);
    const std::size_t end =
        std::min(symbols.size(), i + static_cast<std::size_t>(symbols_per_window));
    for (; i < end; ++i) {
      const DecodedSymbol entry = decoder.decode(window);
      symbols[i] = entry.symbol;
      window <<= entry.length;
      at += entry.length;
    }
  }
  return at;
}

}  // namespace

HuffmanStream huffman_encode(const HuffmanParams& params, HuffmanWidth width,
                             std::span<const QuantCode> symbols) {
  if (symbols.empty()) return {empty_codebook(), {}, {}};
  HuffmanStream stream;
  const auto lengths = code_lengths(histogram_of(symbols));
  stream.codebook = write_lengths(lengths);
  const int longest = *std::max_element(lengths.begin(), lengths.end());
  if (use_narrow_units(width, longest)) {
    encode_with<std::uint32_t>(params, lengths, symbols, stream);
  } else {
    encode_with<std::uint64_t>(params, lengths, symbols, stream);
  }
  return stream;
}

void huffman_decode(const HuffmanParams& params, Bytes codebook, Bytes index, Bytes codes,
                    std::span<QuantCode> symbols) {
  if (symbols.empty()) return;
  const BitCount stream_bits = BitCount{codes.size()} * 8;
  if (stream_bits < symbols.size()) throw ArchiveError("the quant-codes are truncated");
  const CanonicalCode code(read_lengths(codebook));
  const HuffmanDecoder decoder(code);
  const int symbols_per_window = std::max(57 / std::max(code.longest, 1), 1);
  const std::uint64_t chunks = ceil_div(symbols.size(), params.chunk);
  const auto starts = decode_index(params.index, params.partition, index, chunks, stream_bits);

  const std::uint64_t run = params.index == IndexKind::none ? symbols.size() : params.chunk;
  std::atomic<bool> overrun = false;
  parallel_for(starts.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i * run;
    const BitCount end =
        decode_run(decoder, symbols_per_window, codes, starts[i],
                   symbols.subspan(first, std::min<std::uint64_t>(run, symbols.size() - first)));
    const BitCount limit = i + 1 < starts.size() ? starts[i + 1] : stream_bits;
    if (end > limit) overrun = true;
  });
  if (overrun) throw ArchiveError("the quant-codes leave their chunk");
}

}  // namespace cuszi::cpu
