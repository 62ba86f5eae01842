#include <algorithm>

#include "gpu/chunk_index.cuh"
#include "gpu/huffman.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::size_t alphabet = std::size_t{1} << 16;
constexpr unsigned threads = 128;
constexpr unsigned pack_symbols = 16;
constexpr int table_entries = 1 << HuffmanDecoder::lookup_bits;

struct alignas(32) Pack {
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
  std::uint32_t staged_words;  ///< that a thread block has room for
  std::uint64_t count;
  QuantCode* symbols;
  std::uint32_t* flaws;
};

/// The stream in global memory; zeros beyond its end.
struct GlobalWords {
  using Position = std::uint64_t;
  const DecodeTask* task;

  __device__ std::uint32_t operator()(std::uint64_t at) const {
    if (at * 4 + 4 <= task->stream_end) return __byte_perm(task->words[at], 0, 0x0123);
    std::uint32_t word = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(task->words);
    for (std::uint64_t byte = at * 4; byte < task->stream_end; ++byte) {
      word |= static_cast<std::uint32_t>(bytes[byte]) << (24 - 8 * (byte % 4));
    }
    return word;
  }
};

extern __shared__ std::uint32_t staged_words[];

/// A part of the stream in shared memory: lanes refill at different times, and each would wait for
/// the others' loads.
struct StagedWords {
  using Position = std::uint32_t;
  std::uint32_t count;

  __device__ std::uint32_t operator()(std::uint32_t at) const {
    return at < count ? staged_words[at] : 0;
  }
};

/// The next bits of a stream of big-endian words, the first one highest.
template <class Words>
class BitReader {
 public:
  using Position = typename Words::Position;

  __device__ BitReader(const Words& words, Position at) : words_(words), next_(at / 32 + 2) {
    const int used = static_cast<int>(at % 32);
    window_ = ((static_cast<std::uint64_t>(words(at / 32)) << 32) | words(at / 32 + 1)) << used;
    bits_ = 64 - used;
  }

  /// At least 32 bits are valid after this.
  __device__ void refill() {
    if (bits_ > 32) return;
    window_ |= static_cast<std::uint64_t>(words_(next_++)) << (32 - bits_);
    bits_ += 32;
  }

  __device__ std::uint64_t window() const { return window_; }

  /// All 64 bits from here on: for codewords that a refilled window may not hold.
  __device__ std::uint64_t wide_window() const {
    if (bits_ == 64) return window_;
    const std::uint64_t more =
        (static_cast<std::uint64_t>(words_(next_)) << 32) | words_(next_ + 1);
    return window_ | (more >> bits_);
  }

  __device__ void skip(int length) {
    window_ <<= length;
    bits_ -= length;
  }
  /// The same for a length that may be more than refill() makes valid.
  __device__ void skip_far(int length) {
    *this = BitReader(words_, position() + static_cast<unsigned>(length));
  }

  /// How far it has read, from the first word.
  __device__ Position position() const { return next_ * 32 - static_cast<unsigned>(bits_); }

 private:
  Words words_;
  Position next_;
  std::uint64_t window_;
  int bits_;
};

/// The code in shared memory, but for its symbols.
struct SharedCode {
  const DecodedSymbol* table;
  CanonicalCodeView view;
};

/// One symbol. `Long`: some codewords have more than 32 bits.
template <bool Long, class Reader>
__device__ QuantCode decode_symbol(const SharedCode& code, Reader& reader) {
  reader.refill();
  DecodedSymbol entry = code.table[reader.window() >> (64 - HuffmanDecoder::lookup_bits)];
  if (entry.length == 0) {
    entry = code.view.find(Long ? reader.wide_window() : reader.window(),
                           HuffmanDecoder::lookup_bits + 1);
    if (Long && entry.length > 32) {
      reader.skip_far(entry.length);
      return entry.symbol;
    }
  }
  reader.skip(entry.length);
  return entry.symbol;
}

template <bool Long, class Words>
__device__ void decode_chunk(const DecodeTask& task, const SharedCode& code, const Words& words,
                             std::uint64_t chunk, BitCount start, BitCount end) {
  const std::uint64_t first = chunk * task.chunk;
  const std::uint64_t left = task.count - first;
  const std::uint64_t size = left < task.chunk ? left : task.chunk;
  BitReader<Words> reader(words, static_cast<typename Words::Position>(start));
  QuantCode* const out = task.symbols + first;
  std::uint64_t done = 0;
  for (; done + pack_symbols <= size; done += pack_symbols) {
    Pack pack;
#pragma unroll
    for (QuantCode& symbol : pack.symbols) symbol = decode_symbol<Long>(code, reader);
    *reinterpret_cast<Pack*>(out + done) = pack;
  }
  for (; done < size; ++done) out[done] = decode_symbol<Long>(code, reader);
  if (reader.position() > end) atomicOr(task.flaws, codes_leave_chunk);
}

/// A thread per chunk. The block stages as many chunks at once as the shared memory holds, mostly
/// all of its own; a chunk that does not fit alone is read where it is.
template <bool Long>
__global__ void __launch_bounds__(threads) decode_chunks(const __grid_constant__ DecodeTask task) {
  constexpr unsigned lookahead = 3;
  __shared__ DecodedSymbol table[table_entries];
  __shared__ std::uint64_t first_code[max_code_length + 1];
  __shared__ std::uint32_t first_index[max_code_length + 1];
  __shared__ std::uint32_t count[max_code_length + 1];
  for (int i = threadIdx.x; i < table_entries; i += threads) table[i] = task.table[i];
  if (threadIdx.x <= max_code_length) {
    first_code[threadIdx.x] = task.code.first_code[threadIdx.x];
    first_index[threadIdx.x] = task.code.first_index[threadIdx.x];
    count[threadIdx.x] = task.code.count[threadIdx.x];
  }
  const SharedCode code{table,
                        {first_code, first_index, count, task.code.symbols, task.code.longest}};
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads;
  const auto chunks =
      static_cast<unsigned>(task.chunks - first < threads ? task.chunks - first : threads);
  const bool inside = threadIdx.x < chunks;
  const BitCount start = inside ? task.starts[first + threadIdx.x] + task.skip : 0;
  const BitCount end = inside ? task.starts[first + threadIdx.x + 1] + task.skip : 0;
  for (unsigned done = 0; done < chunks;) {
    const std::uint64_t word = (task.starts[first + done] + task.skip) / 32;
    const std::uint64_t words = end / 32 + lookahead - word;
    const bool waiting = inside && threadIdx.x >= done;
    const auto fit = static_cast<unsigned>(
        __syncthreads_count(waiting && end >= start && words <= task.staged_words));
    if (fit == 0) {
      if (threadIdx.x == done)
        decode_chunk<Long>(task, code, GlobalWords{&task}, first + done, start, end);
      ++done;
      continue;
    }
    const std::uint64_t last = (task.starts[first + done + fit] + task.skip) / 32 + lookahead;
    const std::uint64_t needed = last > word ? last - word : 0;  // more than fits if damaged
    const StagedWords staged{
        static_cast<std::uint32_t>(needed < task.staged_words ? needed : task.staged_words)};
    for (std::uint32_t i = threadIdx.x; i < staged.count; i += threads)
      staged_words[i] = GlobalWords{&task}(word + i);
    __syncthreads();
    if (waiting && threadIdx.x < done + fit)
      decode_chunk<Long>(task, code, staged, first + threadIdx.x, start - word * 32,
                         end - word * 32);
    __syncthreads();
    done += fit;
  }
}

/// The lengths of the symbols up to the last one used.
std::vector<std::uint8_t> read_codebook(Bytes codebook) {
  ByteReader in(codebook, "the codebook");
  const std::uint64_t first = in.varint();
  const std::uint64_t used = in.varint();
  const bool possible = first <= alphabet && used <= alphabet - first;
  return read_lengths(codebook, possible ? first + used : alphabet);
}

/// Room for a thread block's part of a stream of uniform density and half as much again.
std::uint32_t staged_words_for(BitCount stream_bits, std::uint64_t count, std::uint64_t chunk) {
  constexpr std::uint64_t least = 256;
  constexpr std::uint64_t most = 24576;
  const std::uint64_t block_symbols = std::min(count, chunk * threads);
  const double bits_per_symbol = static_cast<double>(stream_bits) / static_cast<double>(count);
  const auto words =
      static_cast<std::uint64_t>(bits_per_symbol * static_cast<double>(block_symbols) / 32 * 1.5);
  return static_cast<std::uint32_t>(std::clamp(words, least, most));
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
  const std::uint64_t chunks = ceil_div(count, params.chunk);
  DecodeTask task{};
  task.table = work.upload(decoder.table().data(), decoder.table().size());
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
  task.staged_words = staged_words_for(stream_bits, count, task.chunk);
  const unsigned blocks = blocks_for(task.chunks, threads);
  const unsigned shared = task.staged_words * static_cast<unsigned>(sizeof(std::uint32_t));
  const auto launch = [&](auto* kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)),
          "set aside shared memory");
    kernel<<<blocks, threads, shared, work.stream()>>>(task);
  };
  if (code.longest > 32)
    launch(decode_chunks<true>);
  else
    launch(decode_chunks<false>);
  check_launch("decode_chunks");
}

}  // namespace cuszi::gpu
