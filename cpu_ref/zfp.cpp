#include "cpu_ref/zfp.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/error.hpp"
#include "core/zfp_codec.hpp"
#include "core/zfp_grid.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// Blocks that one thread codes at a time, at least.
constexpr std::uint64_t task_blocks = 2048;

/// The whole words of a stream.
class StreamWords {
 public:
  explicit StreamWords(Bytes stream) : bytes_(stream.data()) {}

  std::uint64_t operator[](std::uint64_t i) const {
    std::uint64_t word;
    std::memcpy(&word, bytes_ + 8 * i, sizeof word);
    return word;
  }

 private:
  const std::byte* bytes_;
};

using Reader = ZfpBitReader<StreamWords>;
using Writer = ZfpBitWriter<std::uint64_t*>;

/// A writer adds up to this many bits beyond a block's limit before it cuts them off.
constexpr std::uint64_t slack_words = 16;

/// Calls f(T, rank) with the rank as a constant.
template <class F>
decltype(auto) with_rank(int rank, const F& f) {
  switch (rank) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    default: return f(std::integral_constant<int, 4>{});
  }
}

template <class T, int rank>
void encode_block(const ZfpParams& params, const ZfpGrid& grid, std::uint64_t block, const T* field,
                  Writer& out) {
  using Block = ZfpBlock<T, rank>;
  const ZfpPlace<rank> place(grid, block);
  T values[Block::values];
  gather_block<rank>(grid, place, field, values);
  typename Block::Word planes[Block::Layout::words];
  const ZfpHead head = Block::to_planes(params, values, planes);
  Block::write(params, head, planes, out);
}

template <class T, int rank>
void decode_block(const ZfpParams& params, const ZfpGrid& grid, std::uint64_t block, Reader& in,
                  T* field) {
  using Block = ZfpBlock<T, rank>;
  typename Block::Word planes[Block::Layout::words] = {};
  int exponent = 0;
  const ZfpHead head = Block::read(params, in, exponent, planes);
  T values[Block::values];
  Block::from_planes(params, head, exponent, planes, values);
  scatter_block<rank>(grid, ZfpPlace<rank>(grid, block), values, field);
}

/// Copies bit strings to a place in a longer one, whose words were zero. Strings that share a word
/// may be put there at the same time.
void put_bits(std::span<const std::uint64_t> from, BitCount bits, BitCount at,
              std::uint64_t* words) {
  const std::uint64_t first = at / 64;
  const auto shift = static_cast<unsigned>(at % 64);
  const std::uint64_t end = ceil_div(at + bits, 64);
  std::uint64_t before = 0;
  for (std::uint64_t i = first; i < end; ++i) {
    const std::uint64_t word = i - first < from.size() ? from[i - first] : 0;
    const std::uint64_t moved = shift == 0 ? word : word << shift | before >> (64 - shift);
    before = word;
    if (i == first || i + 1 == end) {
      std::atomic_ref<std::uint64_t>(words[i]).fetch_or(moved, std::memory_order_relaxed);
    } else {
      words[i] = moved;
    }
  }
}

struct Task {
  std::vector<std::uint64_t> words;
  BitCount bits = 0;
};

template <class T, int rank>
Task encode_task(const ZfpParams& params, const ZfpGrid& grid, std::uint64_t first,
                 std::uint64_t end, std::uint32_t chunk, const T* field,
                 std::vector<std::uint64_t>& scratch, std::uint32_t* chunk_bits) {
  Writer out(scratch.data());
  for (std::uint64_t block = first; block < end;) {
    const std::uint64_t chunk_end = std::min(end, block + chunk);
    const BitCount start = out.position();
    for (; block < chunk_end; ++block) encode_block<T, rank>(params, grid, block, field, out);
    *chunk_bits++ = static_cast<std::uint32_t>(out.position() - start);
  }
  out.flush();
  const BitCount bits = out.position();
  return {{scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(ceil_div(bits, 64))},
          bits};
}

ZfpStream join(const std::vector<Task>& tasks) {
  ZfpStream stream;
  std::vector<BitCount> starts;
  for (const Task& task : tasks) {
    starts.push_back(stream.bits);
    stream.bits += task.bits;
  }
  std::vector<std::uint64_t> words(ceil_div(stream.bits, 64));
  parallel_for(tasks.size(), [&](std::uint64_t i) {
    put_bits(tasks[i].words, tasks[i].bits, starts[i], words.data());
  });
  const Bytes bytes = std::as_bytes(std::span(words));
  stream.bytes.assign(bytes.begin(), bytes.end());
  return stream;
}

}  // namespace

template <class T>
ZfpStream zfp_encode(const ZfpParams& params, const Dims& dims, std::span<const T> values,
                     std::uint32_t chunk) {
  const ZfpGrid grid(dims);
  const std::uint64_t blocks = grid.count();
  const std::uint64_t chunks_per_task = ceil_div(task_blocks, chunk);
  const std::uint64_t blocks_per_task = chunks_per_task * chunk;
  const std::uint64_t scratch_words =
      ceil_div(std::min(blocks, blocks_per_task) * zfp_most_block_bits<T>(params, grid.rank), 64) +
      slack_words;

  std::vector<std::uint32_t> chunk_bits(ceil_div(blocks, chunk));
  std::vector<Task> tasks(ceil_div(blocks, blocks_per_task));
  with_rank(grid.rank, [&](auto rank) {
    parallel_for(
        tasks.size(), [&] { return std::vector<std::uint64_t>(scratch_words); },
        [&](std::vector<std::uint64_t>& scratch, std::uint64_t i) {
          const std::uint64_t first = i * blocks_per_task;
          tasks[i] = encode_task<T, rank>(
              params, grid, first, std::min(blocks, first + blocks_per_task), chunk, values.data(),
              scratch, chunk_bits.data() + i * chunks_per_task);
        },
        [](std::vector<std::uint64_t>&) {});
  });
  ZfpStream stream = join(tasks);
  stream.chunk_bits = std::move(chunk_bits);
  return stream;
}

template <class T>
BitCount zfp_decode(const ZfpParams& params, const Dims& dims, Bytes stream,
                    std::span<const BitCount> starts, std::uint32_t chunk, std::span<T> values) {
  const ZfpGrid grid(dims);
  const std::uint64_t blocks = grid.count();
  const std::uint64_t chunks = starts.size();
  const BitCount stream_bits = BitCount{stream.size() / 8} * 64;
  const std::uint64_t chunks_per_task = chunks == 1 ? 1 : ceil_div(task_blocks, chunk);
  std::atomic<bool> is_damaged = false;
  BitCount end = 0;
  with_rank(grid.rank, [&](auto rank) {
    parallel_for(ceil_div(chunks, chunks_per_task), [&](std::uint64_t task) {
      for (std::uint64_t c = task * chunks_per_task;
           c < std::min(chunks, (task + 1) * chunks_per_task) && !is_damaged; ++c) {
        const std::uint64_t last = c + 1 == chunks ? blocks : (c + 1) * chunk;
        Reader in(StreamWords(stream), stream.size() / 8, starts[c]);
        for (std::uint64_t block = c * chunk; block < last && in.position() <= stream_bits;
             ++block) {
          decode_block<T, rank>(params, grid, block, in, values.data());
        }
        const bool is_last = c + 1 == chunks;
        if (is_last) end = in.position();
        if (is_last ? end > stream_bits : in.position() != starts[c + 1]) is_damaged = true;
      }
    });
  });
  if (is_damaged) throw ArchiveError("a zfp stream's blocks do not end where its index says");
  return end;
}

template <class T>
std::vector<std::uint32_t> zfp_walk(const ZfpParams& params, const Dims& dims, Bytes stream,
                                    BitCount at, std::uint32_t chunk) {
  const ZfpGrid grid(dims);
  const std::uint64_t blocks = grid.count();
  const BitCount stream_bits = BitCount{stream.size() / 8} * 64;
  if (stream_bits < at || stream_bits - at < blocks) {  // every block has a bit
    throw ArchiveError("a zfp stream is truncated");
  }
  std::vector<std::uint32_t> chunk_bits(ceil_div(blocks, chunk));
  with_rank(grid.rank, [&](auto rank) {
    Reader in(StreamWords(stream), stream.size() / 8, at);
    for (std::uint64_t c = 0; c < chunk_bits.size(); ++c) {
      const BitCount start = in.position();
      NoPlanes none;
      int exponent = 0;
      for (std::uint64_t i = c * chunk; i < std::min(blocks, (c + 1) * chunk); ++i) {
        ZfpBlock<T, rank>::read(params, in, exponent, none);
      }
      if (in.position() > stream_bits) throw ArchiveError("a zfp stream is truncated");
      chunk_bits[c] = static_cast<std::uint32_t>(in.position() - start);
    }
  });
  return chunk_bits;
}

#define CUSZI_INSTANTIATE(T)                                                                       \
  template ZfpStream zfp_encode(const ZfpParams&, const Dims&, std::span<const T>, std::uint32_t); \
  template BitCount zfp_decode(const ZfpParams&, const Dims&, Bytes, std::span<const BitCount>,    \
                               std::uint32_t, std::span<T>);                                       \
  template std::vector<std::uint32_t> zfp_walk<T>(const ZfpParams&, const Dims&, Bytes, BitCount,  \
                                                  std::uint32_t)
CUSZI_INSTANTIATE(float);
CUSZI_INSTANTIATE(double);
CUSZI_INSTANTIATE(std::int32_t);
CUSZI_INSTANTIATE(std::int64_t);
#undef CUSZI_INSTANTIATE

}  // namespace cuszi::cpu
