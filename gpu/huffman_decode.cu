#include <algorithm>

#include "gpu/async_copy.cuh"
#include "gpu/chunk_index.cuh"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 128;

/// The first symbols of a window of the stream's next bits: all whose codewords lie in it, as far
/// as there is room. One word: symbols from the lowest bits on, then lengths.
class SymbolRun {
 public:
  static constexpr int window_bits = 10;
  static constexpr unsigned most = 3;

  void append(const DecodedSymbol& next) {
    if (count() == 0) bits_ |= std::uint64_t{next.length} << first_length_at;
    bits_ |= std::uint64_t{next.symbol} << (16 * count());
    bits_ += std::uint64_t{next.length} << length_at;
    bits_ += std::uint64_t{1} << count_at;
  }

  CUSZI_HD QuantCode symbol(unsigned i) const { return static_cast<QuantCode>(bits_ >> (16 * i)); }
  /// 0: the first codeword is longer than the window.
  CUSZI_HD unsigned count() const { return static_cast<unsigned>(bits_ >> count_at) & 15U; }
  CUSZI_HD int first_length() const { return static_cast<int>(bits_ >> first_length_at) & 15; }
  /// Of all codewords.
  CUSZI_HD int length() const { return static_cast<int>(bits_ >> length_at); }

 private:
  static constexpr int count_at = 48;
  static constexpr int first_length_at = 52;
  static constexpr int length_at = 56;

  std::uint64_t bits_ = 0;
};
constexpr unsigned run_entries = 1U << SymbolRun::window_bits;

/// Symbols whose codewords are longer than a run's window, by more bits: canonical codes put them
/// behind all others.
struct LongSymbols {
  static constexpr int window_bits = 16;

  const DecodedSymbol* entries;  ///< length 0: the codeword is still longer
  std::uint32_t first;           ///< the window of the first entry

  __device__ DecodedSymbol find(std::uint64_t window) const {
    return entries[static_cast<std::uint32_t>(window >> (64 - window_bits)) - first];
  }
};

/// What a thread decodes before it stores it, in words of two symbols: the last run may go beyond
/// the end of a line.
constexpr unsigned line_symbols = 32;
constexpr unsigned line_words = line_symbols / 2;
constexpr unsigned most_line_words = line_words + 1;
static_assert(line_symbols + SymbolRun::most - 1 <= 2 * most_line_words);

struct DecodeTask {
  const SymbolRun* runs;
  LongSymbols long_symbols;
  CanonicalCodeView code;
  const std::uint32_t* words;  ///< the stream from the last word boundary before it
  std::uint64_t stream_end;    ///< in bytes from `words`
  BitCount skip;               ///< bits from `words` to the stream
  const BitCount* starts;
  std::uint64_t chunks;
  std::uint64_t chunk;  ///< symbols
  std::uint64_t count;
  QuantCode* symbols;
  std::uint32_t* flaws;
};

/// The next bits of a chunk, the first one highest. The stream's big-endian words come into a
/// thread's ring in shared memory ahead of their use: lanes refill at different times, and each
/// would wait for the others' loads.
class ChunkReader {
 public:
  static constexpr unsigned ring_words = 16;
  static constexpr unsigned ring_stride = ring_words + 1;  ///< keeps lanes in different banks

  __device__ ChunkReader(const DecodeTask& task, BitCount start, std::uint32_t* ring)
      : words_(task.words + start / 32),
        whole_words_(static_cast<std::uint32_t>(task.stream_end / 4 - start / 32)),
        last_bytes_(static_cast<std::uint32_t>(task.stream_end % 4)),
        ring_(ring) {
    const int used = static_cast<int>(start % 32);
    window_ = static_cast<std::uint64_t>(take()) << 32;
    window_ = (window_ | take()) << used;
    bits_ = 64 - used;
  }

  /// Counts on the words asked for so far and asks for more.
  __device__ void top_up() {
    wait_for_copies();
    arrived_ = requested_;
    for (; requested_ < next_ + ring_words; ++requested_) {
      const std::uint32_t size =
          requested_ < whole_words_ ? 4 : (requested_ == whole_words_ ? last_bytes_ : 0);
      copy_word_async(ring_ + requested_ % ring_words, words_ + (size != 0 ? requested_ : 0), size);
    }
  }

  /// At least 32 bits are valid after this.
  __device__ void refill() {
    if (bits_ > 32) return;
    window_ |= static_cast<std::uint64_t>(take()) << (32 - bits_);
    bits_ += 32;
  }

  __device__ std::uint64_t window() const { return window_; }

  /// All 64 bits from here on: for codewords that a refilled window may not hold.
  __device__ std::uint64_t wide_window() {
    return bits_ == 64 ? window_ : window_ | (static_cast<std::uint64_t>(peek()) << 32 >> bits_);
  }

  __device__ void skip(int length) {
    window_ <<= length;
    bits_ -= length;
  }
  /// The same for a length that may be more than refill() makes valid.
  __device__ void skip_far(int length) {
    if (length > bits_) {
      length -= bits_;
      window_ = static_cast<std::uint64_t>(take()) << 32;
      bits_ = 32;
    }
    skip(length);
  }

  /// How many bits it has read, from the start of the chunk's first word.
  __device__ BitCount position() const {
    return BitCount{next_} * 32 - static_cast<unsigned>(bits_);
  }

 private:
  __device__ std::uint32_t peek() {
    while (next_ == arrived_) top_up();
    return __byte_perm(ring_[next_ % ring_words], 0, 0x0123);
  }
  __device__ std::uint32_t take() {
    const std::uint32_t word = peek();
    ++next_;
    return word;
  }

  const std::uint32_t* words_;
  std::uint32_t whole_words_;
  std::uint32_t last_bytes_;  ///< of the word behind them
  std::uint32_t* ring_;
  std::uint32_t next_ = 0;
  std::uint32_t arrived_ = 0;
  std::uint32_t requested_ = 0;
  std::uint64_t window_ = 0;
  int bits_ = 0;
};

/// The code in shared memory, but for its symbols.
struct SharedCode {
  const SymbolRun* runs;
  LongSymbols long_symbols;
  CanonicalCodeView view;
};

/// Not inlined: rare.
__device__ __noinline__ DecodedSymbol find_long(CanonicalCodeView view, std::uint64_t window) {
  return view.find(window, LongSymbols::window_bits + 1);
}

/// A symbol whose codeword is longer than a run's window. `Long`: some have more than 32 bits.
template <bool Long>
__device__ QuantCode decode_long(const SharedCode& code, ChunkReader& reader) {
  DecodedSymbol entry = code.long_symbols.find(reader.window());
  if (entry.length == 0)
    entry = find_long(code.view, Long ? reader.wide_window() : reader.window());
  reader.skip_far(entry.length);
  return entry.symbol;
}

/// Appends the next symbols, at most `left`, to a thread's line; returns how many.
template <bool Long>
__device__ unsigned decode_run(const SharedCode& code, ChunkReader& reader, unsigned left,
                               QuantCode* line) {
  reader.refill();
  const SymbolRun run = code.runs[reader.window() >> (64 - SymbolRun::window_bits)];
#pragma unroll
  for (unsigned i = 0; i < SymbolRun::most; ++i) line[i] = run.symbol(i);
  if (run.count() == 0) {
    line[0] = decode_long<Long>(code, reader);
    return 1;
  }
  const bool whole = left >= SymbolRun::most;
  reader.skip(whole ? run.length() : run.first_length());
  return whole ? run.count() : 1;
}

/// Stores a whole line; what goes beyond its end becomes the next one's start.
__device__ void store_line(std::uint32_t* line, QuantCode* out) {
  auto* const packs = reinterpret_cast<uint4*>(out);
#pragma unroll
  for (unsigned i = 0; i < line_words; i += 4)
    packs[i / 4] = make_uint4(line[i], line[i + 1], line[i + 2], line[i + 3]);
  line[0] = line[line_words];
}

template <bool Long>
__device__ void decode_chunk(const DecodeTask& task, const SharedCode& code, std::uint64_t chunk,
                             std::uint32_t* ring, std::uint32_t* line) {
  const BitCount start = task.starts[chunk] + task.skip;
  const std::uint64_t first = chunk * task.chunk;
  const std::uint64_t all = task.count - first;
  QuantCode* out = task.symbols + first;
  auto* const line_codes = reinterpret_cast<QuantCode*>(line);
  constexpr unsigned most_near = 2 * line_symbols;
  ChunkReader reader(task, start, ring);
  unsigned filled = 0;
  for (std::uint64_t left = all < task.chunk ? all : task.chunk; left != 0;) {
    reader.top_up();
    unsigned near = left < most_near ? static_cast<unsigned>(left) : most_near;
    left -= near;
    while (filled < line_symbols && near != 0) {
      const unsigned count = decode_run<Long>(code, reader, near, line_codes + filled);
      filled += count;
      near -= count;
    }
    left += near;
    if (filled < line_symbols) break;
    store_line(line, out);
    out += line_symbols;
    filled -= line_symbols;
  }
  for (unsigned i = 0; i < filled; ++i) out[i] = line_codes[i];
  const BitCount end = task.starts[chunk + 1] + task.skip;
  if (start / 32 * 32 + reader.position() > end) atomicOr(task.flaws, codes_leave_chunk);
}

/// Which of a block's chunks a thread takes: sorted by length, so that the threads of a warp have
/// about as much to do.
__device__ unsigned chunk_by_length(const BitCount* starts, unsigned chunks) {
  __shared__ std::uint32_t lengths[threads];
  __shared__ std::uint32_t order[threads];
  const unsigned self = threadIdx.x;
  lengths[self] = self < chunks ? static_cast<std::uint32_t>(starts[self + 1] - starts[self]) : ~0U;
  __syncthreads();
  unsigned rank = 0;
  for (unsigned i = 0; i < threads; ++i) {
    const bool before = lengths[i] < lengths[self] || (lengths[i] == lengths[self] && i < self);
    rank += before ? 1 : 0;
  }
  order[rank] = self;
  __syncthreads();
  return order[self];
}

/// A thread per chunk.
template <bool Long>
__global__ void __launch_bounds__(threads) decode_chunks(const __grid_constant__ DecodeTask task) {
  __shared__ SymbolRun runs[run_entries];
  __shared__ std::uint32_t rings[threads * ChunkReader::ring_stride];
  __shared__ std::uint32_t lines[threads * most_line_words];
  __shared__ std::uint64_t first_code[max_code_length + 1];
  __shared__ std::uint32_t first_index[max_code_length + 1];
  __shared__ std::uint32_t count[max_code_length + 1];
  for (unsigned i = threadIdx.x; i < run_entries; i += threads) runs[i] = task.runs[i];
  if (threadIdx.x <= max_code_length) {
    first_code[threadIdx.x] = task.code.first_code[threadIdx.x];
    first_index[threadIdx.x] = task.code.first_index[threadIdx.x];
    count[threadIdx.x] = task.code.count[threadIdx.x];
  }
  const SharedCode code{runs,
                        task.long_symbols,
                        {first_code, first_index, count, task.code.symbols, task.code.longest}};
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads;
  const auto chunks =
      static_cast<unsigned>(task.chunks - first < threads ? task.chunks - first : threads);
  const unsigned own = chunk_by_length(task.starts + first, chunks);
  if (own < chunks) {
    decode_chunk<Long>(task, code, first + own, rings + threadIdx.x * ChunkReader::ring_stride,
                       lines + threadIdx.x * most_line_words);
  }
}

/// All runs, by the bits of their window.
std::vector<SymbolRun> symbol_runs(const HuffmanDecoder& decoder) {
  constexpr int extra_bits = HuffmanDecoder::lookup_bits - SymbolRun::window_bits;
  static_assert(extra_bits >= 0);
  constexpr std::size_t mask = (std::size_t{1} << HuffmanDecoder::lookup_bits) - 1;
  std::vector<SymbolRun> runs(run_entries, SymbolRun{});
  for (std::size_t window = 0; window < run_entries; ++window) {
    SymbolRun& run = runs[window];
    while (run.count() < SymbolRun::most) {
      const DecodedSymbol next = decoder.table()[(window << (extra_bits + run.length())) & mask];
      if (next.length == 0 || run.length() + next.length > SymbolRun::window_bits) break;
      run.append(next);
    }
  }
  return runs;
}

LongSymbols upload_long_symbols(Work& work, const CanonicalCode& code) {
  constexpr int bits = LongSymbols::window_bits;
  constexpr std::uint32_t end = 1U << bits;
  constexpr auto shorter = static_cast<std::size_t>(SymbolRun::window_bits);
  const std::uint64_t first_long = code.first_code[shorter] + code.count[shorter];
  const auto first = static_cast<std::uint32_t>(first_long << (bits - SymbolRun::window_bits));
  std::vector<DecodedSymbol> entries(first < end ? end - first : 0, DecodedSymbol{0, 0});
  for (int length = SymbolRun::window_bits + 1; length <= bits; ++length) {
    const auto l = static_cast<std::size_t>(length);
    const std::size_t copies = std::size_t{1} << (bits - length);
    auto at = entries.begin() + static_cast<std::ptrdiff_t>(code.first_code[l] * copies - first);
    for (std::uint32_t i = 0; i < code.count[l]; ++i) {
      const QuantCode symbol = code.symbols[code.first_index[l] + i];
      at = std::fill_n(at, copies, DecodedSymbol{symbol, static_cast<std::uint8_t>(length)});
    }
  }
  return {work.upload(entries.data(), entries.size()), first};
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

  const CanonicalCode code(read_lengths({book, codebook.size()}));
  const std::vector<SymbolRun> runs = symbol_runs(HuffmanDecoder(code));
  const bool parallel = params.index != IndexKind::none;
  const std::uint64_t chunks = ceil_div(count, params.chunk);
  DecodeTask task{};
  task.runs = work.upload(runs.data(), runs.size());
  task.long_symbols = upload_long_symbols(work, code);
  task.code = upload_code(work, code);
  const std::uintptr_t misalignment =
      reinterpret_cast<std::uintptr_t>(codes.data()) % sizeof(std::uint32_t);
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
  if (code.longest > 32)
    decode_chunks<true><<<blocks, threads, 0, work.stream()>>>(task);
  else
    decode_chunks<false><<<blocks, threads, 0, work.stream()>>>(task);
  check_launch("decode_chunks");
}

}  // namespace cuszi::gpu
