#include <algorithm>

#include "gpu/chunk_index.cuh"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::size_t alphabet = std::size_t{1} << 16;
constexpr unsigned threads = 128;
constexpr unsigned pack_symbols = 8;
constexpr int table_entries = 1 << HuffmanDecoder::lookup_bits;

struct alignas(16) Pack {
  QuantCode symbols[pack_symbols];
};

struct DecodeTask {
  const DecodedSymbol* table;
  CanonicalCodeView code;
  const std::uint32_t* words;  ///< the stream from the last word boundary before it
  std::uint64_t stream_end;    ///< in bytes from `words`
  BitCount skip;               ///< bits from `words` to the stream
  const BitCount* starts;
  std::uint64_t chunks;
  std::uint64_t chunk;         ///< symbols
  std::uint64_t count;
  QuantCode* symbols;
  std::uint32_t* flaws;
};

/// The next bits of a stream of big-endian words, the first one highest; zeros beyond the end. The
/// word after next is on its way while the others are decoded.
class BitReader {
 public:
  __device__ BitReader(const DecodeTask& task, BitCount at) : task_(&task), next_(at / 32) {
    const int used = static_cast<int>(at % 32);
    const std::uint64_t first = load();
    window_ = ((first << 32) | load()) << used;
    bits_ = 64 - used;
    ahead_ = load();
  }

  /// At least 32 bits are valid after this.
  __device__ void refill() {
    if (bits_ > 32) return;
    window_ |= static_cast<std::uint64_t>(ahead_) << (32 - bits_);
    bits_ += 32;
    ahead_ = load();
  }

  __device__ std::uint64_t window() const { return window_; }

  __device__ void skip(int length) {
    window_ <<= length;
    bits_ -= length;
  }

  /// How far it has read, from the first word.
  __device__ BitCount position() const { return next_ * 32 - 32 - static_cast<unsigned>(bits_); }

 private:
  __device__ std::uint32_t load() {
    const std::uint64_t at = next_++;
    if (at * 4 + 4 <= task_->stream_end) return __byte_perm(task_->words[at], 0, 0x0123);
    std::uint32_t word = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(task_->words);
    for (std::uint64_t byte = at * 4; byte < task_->stream_end; ++byte) {
      word |= static_cast<std::uint32_t>(bytes[byte]) << (24 - 8 * (byte % 4));
    }
    return word;
  }

  const DecodeTask* task_;
  std::uint64_t next_;
  std::uint64_t window_;
  std::uint32_t ahead_;
  int bits_;
};

/// The 64 bits from a position on: for codewords that a refilled window may not hold.
__device__ std::uint64_t window_at(const DecodeTask& task, BitCount at) {
  BitReader reader(task, at);
  const std::uint64_t high = reader.window();
  if (at % 32 == 0) return high;
  return high | (BitReader(task, at + 64 - at % 32).window() >> (64 - at % 32));
}

/// One symbol; codewords of more than 32 bits take the slow way.
template <bool Long>
__device__ QuantCode decode_symbol(const DecodeTask& task, const DecodedSymbol* table, BitReader& reader) {
  reader.refill();
  DecodedSymbol entry = table[reader.window() >> (64 - HuffmanDecoder::lookup_bits)];
  if (entry.length == 0) {
    constexpr int shortest = HuffmanDecoder::lookup_bits + 1;
    if constexpr (Long) {
      const BitCount at = reader.position();
      entry = task.code.find(window_at(task, at), shortest);
      if (entry.length > 32) {
        reader = BitReader(task, at + entry.length);
        return entry.symbol;
      }
    } else {
      entry = task.code.find(reader.window(), shortest);
    }
  }
  reader.skip(entry.length);
  return entry.symbol;
}

/// A thread per chunk.
template <bool Long>
__global__ void __launch_bounds__(threads) decode_chunks(const __grid_constant__ DecodeTask task) {
  __shared__ DecodedSymbol table[table_entries];
  for (int i = threadIdx.x; i < table_entries; i += threads) table[i] = task.table[i];
  __syncthreads();
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (chunk >= task.chunks) return;
  const std::uint64_t first = chunk * task.chunk;
  const std::uint64_t left = task.count - first;
  const std::uint64_t size = left < task.chunk ? left : task.chunk;
  BitReader reader(task, task.starts[chunk] + task.skip);
  QuantCode* out = task.symbols + first;
  std::uint64_t done = 0;
  for (; done + pack_symbols <= size; done += pack_symbols) {
    Pack pack;
#pragma unroll
    for (QuantCode& symbol : pack.symbols) symbol = decode_symbol<Long>(task, table, reader);
    *reinterpret_cast<Pack*>(out + done) = pack;
  }
  for (; done < size; ++done) out[done] = decode_symbol<Long>(task, table, reader);
  if (reader.position() > task.starts[chunk + 1] + task.skip) atomicOr(task.flaws, codes_leave_chunk);
}

/// The lengths of the symbols up to the last one used.
std::vector<std::uint8_t> read_codebook(Bytes codebook) {
  ByteReader in(codebook, "the codebook");
  const std::uint64_t first = in.varint();
  const std::uint64_t used = in.varint();
  const bool possible = first <= alphabet && used <= alphabet - first;
  return read_lengths(codebook, possible ? first + used : alphabet);
}

CanonicalCodeView upload_code(Work& work, const CanonicalCode& code) {
  return {work.upload(code.first_code.data(), code.first_code.size()),
          work.upload(code.first_index.data(), code.first_index.size()),
          work.upload(code.count.data(), code.count.size()),
          work.upload(code.symbols.data(), code.symbols.size()), code.longest};
}

}  // namespace

void huffman_decode(Work& work, const HuffmanParams& params, const Sections& sections,
                    QuantCode* symbols, std::uint64_t count) {
  const Bytes codes = sections.find(SectionId::codes);
  const Bytes index = sections.find(SectionId::index);
  const Bytes codebook = sections.at(SectionId::codebook);
  if (count == 0) return;
  const BitCount stream_bits = BitCount{codes.size()} * 8;
  if (stream_bits < count) throw ArchiveError("the quant-codes are truncated");
  const std::byte* const book = work.download(codebook.data(), codebook.size());
  const std::byte* const index_head = work.download(index.data(), index.empty() ? 0 : 1);
  work.sync();

  const CanonicalCode code(read_codebook({book, codebook.size()}));
  const HuffmanDecoder decoder(code);
  const bool parallel = params.index != IndexKind::none;
  const std::uint64_t chunks = ceil_div<std::uint64_t>(count, params.chunk);
  DecodeTask task{};
  task.table = work.upload(decoder.table().data(), decoder.table().size());
  task.code = upload_code(work, code);
  const std::uintptr_t misalignment = reinterpret_cast<std::uintptr_t>(codes.data()) % sizeof(std::uint32_t);
  task.words = reinterpret_cast<const std::uint32_t*>(codes.data() - misalignment);
  task.stream_end = misalignment + codes.size();
  task.skip = 8 * misalignment;
  task.starts = decode_index(work, params.index, params.partition, index,
                             index.empty() ? std::byte{} : *index_head, chunks, stream_bits);
  task.chunks = parallel ? chunks : 1;
  task.chunk = parallel ? params.chunk : count;
  task.count = count;
  task.symbols = symbols;
  task.flaws = work.flaws();
  const unsigned blocks = blocks_for(task.chunks, threads);
  if (code.longest > 32) decode_chunks<true><<<blocks, threads, 0, work.stream()>>>(task);
  else decode_chunks<false><<<blocks, threads, 0, work.stream()>>>(task);
  check_launch("decode_chunks");
}

}  // namespace cuszi::gpu
