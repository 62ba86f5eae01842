#include <algorithm>
#include <cstring>

#include "gpu/coders/coder.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/field/chunk_index.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Up to `most` symbols whose codewords fit a window of the stream, packed in a word: symbols from
/// the low bits on, then lengths.
class SymbolRun {
 public:
  static constexpr int window_bits = 12;
  static constexpr unsigned most = 3;

  CUSZI_HD void append(const DecodedSymbol& next) {
    if (count() == 0) bits_ |= std::uint64_t{next.length} << first_length_at;
    bits_ |= std::uint64_t{next.symbol} << (16 * count());
    bits_ += std::uint64_t{next.length} << length_at;
    bits_ += std::uint64_t{1} << count_at;
  }

  CUSZI_HD QuantCode symbol(unsigned i) const { return static_cast<QuantCode>(bits_ >> (16 * i)); }
  /// 0: the first codeword exceeds the window.
  CUSZI_HD unsigned count() const { return static_cast<unsigned>(bits_ >> count_at) & 15U; }
  CUSZI_HD int first_length() const { return static_cast<int>(bits_ >> first_length_at) & 15; }
  /// Bits of all codewords.
  CUSZI_HD int length() const { return static_cast<int>(bits_ >> length_at); }

 private:
  static constexpr int count_at = 48;
  static constexpr int first_length_at = 52;
  static constexpr int length_at = 56;

  std::uint64_t bits_ = 0;
};

/// Codewords longer than a run's window; in canonical codes they follow all others.
struct LongSymbols {
  static constexpr int window_bits = 16;

  const DecodedSymbol* entries;  ///< length 0: longer still
  std::uint32_t first;           ///< window of the first entry

  /// One load.
  __device__ DecodedSymbol find(std::uint64_t window) const {
    static_assert(sizeof(DecodedSymbol) == sizeof(std::uint32_t));
    const auto* const words = reinterpret_cast<const std::uint32_t*>(entries);
    const std::uint32_t entry =
        words[static_cast<std::uint32_t>(window >> (64 - window_bits)) - first];
    return {static_cast<QuantCode>(entry), static_cast<std::uint8_t>(entry >> 16)};
  }
};

constexpr unsigned run_entries = 1U << SymbolRun::window_bits;

/// Symbols are stored in lines, two per word; the last run may exceed a line.
constexpr unsigned line_symbols = 32;
constexpr unsigned line_words = line_symbols / 2;
constexpr unsigned most_line_words = line_words + 1;
static_assert(line_symbols + SymbolRun::most - 1 <= 2 * most_line_words);

struct DecodeTask {
  const SymbolRun* runs;
  LongSymbols long_symbols;
  CanonicalCodeView code;
  const std::uint32_t* words;  ///< aligned
  std::uint64_t stream_end;    ///< in bytes from `words`
  BitCount skip;               ///< bits from `words` to the stream
  const BitCount* starts;
  std::uint64_t chunks;
  unsigned warp_chunks;  ///< a lane each
  std::uint64_t chunk;   ///< symbols
  std::uint64_t count;
  QuantCode* symbols;
  std::uint32_t* flaws;
};

/// Left-aligned bits of a chunk. Words are prefetched into a ring in shared memory: lanes refill at
/// different times and would stall on each other's loads.
class ChunkReader {
 public:
  static constexpr unsigned ring_words = 16;
  static constexpr unsigned ring_stride = ring_words + 1;  ///< avoids bank conflicts

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

  /// Waits for requested words and requests more.
  __device__ void top_up() {
    wait_for_copies();
    arrived_ = requested_;
    const std::uint32_t end = next_ + ring_words;
    if (end <= whole_words_) {  // nearly always
      for (; requested_ < end; ++requested_)
        copy_async<4>(ring_ + requested_ % ring_words, words_ + requested_);
      return;
    }
    for (; requested_ < end; ++requested_) {
      const std::uint32_t size =
          requested_ < whole_words_ ? 4 : (requested_ == whole_words_ ? last_bytes_ : 0);
      copy_word_async(ring_ + requested_ % ring_words, words_ + (size != 0 ? requested_ : 0), size);
    }
  }

  /// At least 32 bits are valid afterwards.
  __device__ void refill() {
    if (bits_ > 32) return;
    window_ |= static_cast<std::uint64_t>(take()) << (32 - bits_);
    bits_ += 32;
  }

  __device__ std::uint64_t window() const { return window_; }

  /// 64 valid bits, for long codewords.
  __device__ std::uint64_t wide_window() {
    return bits_ == 64 ? window_ : window_ | (static_cast<std::uint64_t>(peek()) << 32 >> bits_);
  }

  __device__ void skip(int length) {
    window_ <<= length;
    bits_ -= length;
  }
  /// `length` may exceed the valid bits.
  __device__ void skip_far(int length) {
    if (length > bits_) {
      length -= bits_;
      window_ = static_cast<std::uint64_t>(take()) << 32;
      bits_ = 32;
    }
    skip(length);
  }

  /// In bits, from the chunk's first word.
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
  std::uint32_t last_bytes_;  ///< valid bytes of the next one
  std::uint32_t* ring_;
  std::uint32_t next_ = 0;
  std::uint32_t arrived_ = 0;
  std::uint32_t requested_ = 0;
  std::uint64_t window_ = 0;
  int bits_ = 0;
};

struct SharedCode {
  const SymbolRun* runs;
  LongSymbols long_symbols;
  CanonicalCodeView view;
};

/// Rare, so not inlined.
__device__ __noinline__ DecodedSymbol find_long(CanonicalCodeView view, std::uint64_t window) {
  return view.find(window, LongSymbols::window_bits + 1);
}

/// `Long`: the code has codewords above 32 bits.
template <bool Long>
__device__ QuantCode decode_long(const SharedCode& code, ChunkReader& reader) {
  DecodedSymbol entry = code.long_symbols.find(reader.window());
  if (entry.length == 0)
    entry = find_long(code.view, Long ? reader.wide_window() : reader.window());
  reader.skip_far(entry.length);
  return entry.symbol;
}

/// Returns the number of appended symbols: of a whole run, or 1.
template <bool Long, bool whole>
__device__ unsigned decode_run(const SharedCode& code, ChunkReader& reader, QuantCode* line) {
  reader.refill();
  const SymbolRun run = code.runs[reader.window() >> (64 - SymbolRun::window_bits)];
#pragma unroll
  for (unsigned i = 0; i < SymbolRun::most; ++i) line[i] = run.symbol(i);
  if (run.count() == 0) {
    line[0] = decode_long<Long>(code, reader);
    return 1;
  }
  reader.skip(whole ? run.length() : run.first_length());
  return whole ? run.count() : 1;
}

/// Keeps the symbols beyond a full line.
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
    const unsigned near = left < most_near ? static_cast<unsigned>(left) : most_near;
    left -= near;
    const unsigned end = filled + near;
    const unsigned whole_end = end < SymbolRun::most ? 0 : end - (SymbolRun::most - 1);
    const unsigned limit = min(line_symbols, whole_end);
    while (filled < limit) filled += decode_run<Long, true>(code, reader, line_codes + filled);
    while (filled < line_symbols && filled < end)
      filled += decode_run<Long, false>(code, reader, line_codes + filled);
    left += end - filled;
    if (filled < line_symbols) break;
    store_line(line, out);
    out += line_symbols;
    filled -= line_symbols;
  }
  for (unsigned i = 0; i < filled; ++i) out[i] = line_codes[i];
  const BitCount end = task.starts[chunk + 1] + task.skip;
  if (start / 32 * 32 + reader.position() > end) atomicOr(task.flaws, codes_leave_chunk);
}

/// Assigns chunks by length, so that warps are balanced; returns group_threads for none. `lengths`
/// and `order` have an entry per thread.
__device__ unsigned chunk_by_length(const BitCount* starts, unsigned chunks, unsigned warp_chunks,
                                    std::uint32_t* lengths, std::uint32_t* order) {
  const unsigned self = threadIdx.x % HuffmanDecodePolicy::group_threads;
  lengths += threadIdx.x - self;
  order += threadIdx.x - self;
  lengths[self] = self < chunks ? static_cast<std::uint32_t>(starts[self + 1] - starts[self]) : ~0U;
  __syncthreads();
  unsigned rank = 0;
  for (unsigned i = 0; i < HuffmanDecodePolicy::group_threads; ++i) {
    const bool before = lengths[i] < lengths[self] || (lengths[i] == lengths[self] && i < self);
    rank += before ? 1 : 0;
  }
  order[rank] = self;
  __syncthreads();
  const unsigned lane = self % 32;
  return lane < warp_chunks ? order[self / 32 * warp_chunks + lane]
                            : HuffmanDecodePolicy::group_threads;
}

constexpr unsigned thread_words = ChunkReader::ring_stride + most_line_words;

constexpr unsigned decode_bytes(unsigned threads) {
  return run_entries * sizeof(SymbolRun) + threads * thread_words * sizeof(std::uint32_t);
}

extern __shared__ __align__(8) std::byte decode_memory[];

/// One thread per chunk.
template <bool Long>
__global__ void __launch_bounds__(HuffmanDecodePolicy::most_threads,
                                  HuffmanDecodePolicy::blocks_of_multiprocessor)
    decode_chunks(const __grid_constant__ DecodeTask task) {
  const unsigned threads = blockDim.x;
  auto* const runs = reinterpret_cast<SymbolRun*>(decode_memory);
  auto* const rings = reinterpret_cast<std::uint32_t*>(runs + run_entries);
  std::uint32_t* const lines = rings + threads * ChunkReader::ring_stride;
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
  const unsigned most = HuffmanDecodePolicy::group_threads / 32 * task.warp_chunks;
  const std::uint64_t group = blockIdx.x * (threads / HuffmanDecodePolicy::group_threads) +
                              threadIdx.x / HuffmanDecodePolicy::group_threads;
  const std::uint64_t first = group * most;
  const std::uint64_t left = first < task.chunks ? task.chunks - first : 0;
  const auto chunks = static_cast<unsigned>(left < most ? left : most);
  const unsigned own = chunk_by_length(task.starts + first, chunks, task.warp_chunks, rings, lines);
  __syncthreads();
  if (own < chunks) {
    decode_chunk<Long>(task, code, first + own, rings + threadIdx.x * ChunkReader::ring_stride,
                       lines + threadIdx.x * most_line_words);
  }
}

struct PackedCode {
  std::uint64_t first_code[max_code_length + 1];
  std::uint32_t first_index[max_code_length + 1];
  std::uint32_t count[max_code_length + 1];

  const QuantCode* symbols() const { return reinterpret_cast<const QuantCode*>(this + 1); }
};

CanonicalCodeView upload_code(DeviceContext& gpu, const CanonicalCode& code) {
  const ByteCount size = sizeof(PackedCode) + code.symbols.size() * sizeof(QuantCode);
  auto* const staged = gpu.take_pinned<std::byte>(size);
  PackedCode packed;
  std::copy(code.first_code.begin(), code.first_code.end(), packed.first_code);
  std::copy(code.first_index.begin(), code.first_index.end(), packed.first_index);
  std::copy(code.count.begin(), code.count.end(), packed.count);
  std::memcpy(staged, &packed, sizeof packed);
  std::memcpy(staged + sizeof packed, code.symbols.data(), size - sizeof packed);
  auto* const there = gpu.take<std::byte>(size);
  copy_pinned(gpu, there, staged, size);
  const auto* const on_device = reinterpret_cast<const PackedCode*>(there);
  return {on_device->first_code, on_device->first_index, on_device->count, on_device->symbols(),
          code.longest};
}

/// First codeword, at least `shortest` bits long, of `bits` low bits of `window`; length 0 if it is
/// longer.
__device__ DecodedSymbol find_within(const CanonicalCodeView& code, std::uint64_t window, int bits,
                                     int shortest) {
  for (int length = shortest; length <= bits; ++length) {
    const std::uint64_t offset = (window >> (bits - length)) - code.first_code[length];
    if (offset < code.count[length]) {
      return {code.symbols[code.first_index[length] + offset], static_cast<std::uint8_t>(length)};
    }
  }
  return {0, 0};
}

struct DecodeTables {
  SymbolRun* runs;
  DecodedSymbol* long_symbols;
  std::uint32_t first_long;  ///< see LongSymbols
  std::uint32_t long_count;
  bool has_one_symbol;  ///< any bit decodes to it
};

__device__ SymbolRun make_run(const CanonicalCodeView& code, bool has_one_symbol,
                              std::uint32_t window) {
  SymbolRun run;
  while (run.count() < SymbolRun::most) {
    const int left = SymbolRun::window_bits - run.length();
    const std::uint32_t rest = window & ((1U << left) - 1);
    const DecodedSymbol next = has_one_symbol
                                   ? DecodedSymbol{code.symbols[0], static_cast<std::uint8_t>(1)}
                                   : find_within(code, rest, left, 1);
    if (next.length == 0 || next.length > left) break;
    run.append(next);
  }
  return run;
}

/// One thread per entry.
__global__ void __launch_bounds__(HuffmanDecodePolicy::table_threads)
    make_tables(const __grid_constant__ CanonicalCodeView code,
                const __grid_constant__ DecodeTables tables) {
  const std::uint32_t i = blockIdx.x * HuffmanDecodePolicy::table_threads + threadIdx.x;
  if (i < run_entries) {
    tables.runs[i] = make_run(code, tables.has_one_symbol, i);
  } else if (i - run_entries < tables.long_count) {
    const std::uint32_t entry = i - run_entries;
    tables.long_symbols[entry] = find_within(code, tables.first_long + entry,
                                             LongSymbols::window_bits, SymbolRun::window_bits + 1);
  }
}

DecodeTables start_tables(DeviceContext& gpu, const CanonicalCode& code,
                          const CanonicalCodeView& view) {
  constexpr std::uint32_t end = 1U << LongSymbols::window_bits;
  constexpr auto shorter = static_cast<std::size_t>(SymbolRun::window_bits);
  const std::uint64_t first_long = (code.first_code[shorter] + code.count[shorter])
                                   << (LongSymbols::window_bits - SymbolRun::window_bits);
  DecodeTables tables{};
  tables.has_one_symbol = code.symbols.size() == 1;
  tables.first_long = tables.has_one_symbol ? end : static_cast<std::uint32_t>(first_long);
  tables.long_count = end - tables.first_long;
  tables.runs = gpu.take<SymbolRun>(run_entries);
  tables.long_symbols = gpu.take<DecodedSymbol>(tables.long_count);
  const unsigned blocks =
      blocks_for(run_entries + tables.long_count, HuffmanDecodePolicy::table_threads);
  make_tables<<<blocks, HuffmanDecodePolicy::table_threads, 0, gpu.stream()>>>(view, tables);
  check_launch("make_tables");
  return tables;
}

/// Threads per block within `shared_bytes` of shared memory.
unsigned threads_of_block(unsigned shared_bytes) {
  unsigned threads = HuffmanDecodePolicy::most_threads;
  while (threads > HuffmanDecodePolicy::group_threads && decode_bytes(threads) > shared_bytes)
    threads /= 2;
  return threads;
}

void launch_decode(DeviceContext& gpu, const CanonicalCode& code, DecodeTask task) {
  task.code = upload_code(gpu, code);
  const DecodeTables tables = start_tables(gpu, code, task.code);
  task.runs = tables.runs;
  task.long_symbols = {tables.long_symbols, tables.first_long};
  auto* const kernel = code.longest > 32 ? decode_chunks<true> : decode_chunks<false>;
  const unsigned threads = threads_of_block(raise_shared_limit(gpu.device(), kernel));
  const unsigned bytes = decode_bytes(threads);
  const unsigned blocks = blocks_for(task.chunks, threads / 32 * task.warp_chunks);
  kernel<<<blocks, threads, bytes, gpu.stream()>>>(task);
  check_launch("decode_chunks");
}

/// Enough to occupy every multiprocessor.
unsigned chunks_per_warp(const Device& device, std::uint64_t chunks) {
  const std::uint64_t enough_warps =
      std::uint64_t{device.multiprocessors} * HuffmanDecodePolicy::warps_of_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(ceil_div(chunks, enough_warps), 1, 32));
}

}  // namespace

PendingHuffman::PendingHuffman(DeviceContext& gpu, const HuffmanParams& params,
                               const Sections& sections)
    : gpu_(gpu),
      params_(params),
      stream_{sections.at(SectionId::codebook), sections.find(SectionId::index),
              sections.find(SectionId::codes)},
      book_{download(gpu, stream_.codebook.data(), stream_.codebook.size()),
            stream_.codebook.size()},
      index_head_(download(gpu, stream_.index.data(), stream_.index.empty() ? 0 : 1)) {}

void PendingHuffman::decode(QuantCode* symbols, std::uint64_t count) const {
  if (count == 0) return;
  const Bytes codes = stream_.codes;
  const BitCount stream_bits = BitCount{codes.size()} * 8;
  if (stream_bits < count) throw ArchiveError("the quant-codes are truncated");
  const bool parallel = params_.index != IndexKind::none;
  const std::uint64_t chunks = ceil_div(count, params_.chunk);
  DecodeTask task{};
  task.starts =
      decode_index(gpu_, params_.index, params_.partition, stream_.index,
                   stream_.index.empty() ? std::byte{} : *index_head_, chunks, stream_bits);
  const CanonicalCode code(read_lengths(book_));
  const std::uintptr_t misalignment =
      reinterpret_cast<std::uintptr_t>(codes.data()) % sizeof(std::uint32_t);
  task.words = reinterpret_cast<const std::uint32_t*>(codes.data() - misalignment);
  task.stream_end = misalignment + codes.size();
  task.skip = 8 * misalignment;
  task.chunks = parallel ? chunks : 1;
  task.warp_chunks = chunks_per_warp(gpu_.device(), task.chunks);
  task.chunk = parallel ? params_.chunk : count;
  task.count = count;
  task.symbols = symbols;
  task.flaws = gpu_.flaws();
  launch_decode(gpu_, code, task);
}

}  // namespace cuszi::gpu
