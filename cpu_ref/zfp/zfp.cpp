#include "cpu_ref/zfp/zfp.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/error.hpp"
#include "core/zfp/zfp_codec.hpp"
#include "core/zfp/zfp_grid.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

namespace {

/// Minimum blocks per task.
constexpr std::uint64_t task_blocks = 2048;

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

/// A writer exceeds a block's limit by up to this before it truncates.
constexpr std::uint64_t padding_words = 16;

template <class F>
decltype(auto) with_rank(int rank, const F& f) {
  switch (rank) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    default: return f(std::integral_constant<int, 4>{});
  }
}

template <int rank, class Row>
void for_whole_rows(const ZfpGrid& grid, const ZfpPlace<rank>& place, const Row& row) {
  for (unsigned r = 0; r < static_cast<unsigned>(zfp_block_values(rank)) / 4; ++r) {
    std::uint64_t offset = place.first;
    for (unsigned axis = 1; axis < rank; ++axis) {
      offset += ((r >> (2 * (axis - 1))) & 3) * grid.strides[axis];
    }
    row(4 * r, offset);
  }
}

template <int rank, class T>
void load_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, const T* field, T* block) {
  if (!place.is_whole) return gather_block<rank>(grid, place, field, block);
  for_whole_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset) {
    std::memcpy(block + at, field + offset, 4 * sizeof(T));
  });
}

template <int rank, class T>
void store_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, const T* block, T* field) {
  if (!place.is_whole) return scatter_block<rank>(grid, place, block, field);
  for_whole_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset) {
    std::memcpy(field + offset, block + at, 4 * sizeof(T));
  });
}

template <class T>
struct EncodeTask {
  ZfpParams params;
  ZfpGrid grid;
  const T* field;
  std::uint64_t blocks;
  std::uint32_t chunk;
  const ZfpPatches<T>* patches;  ///< to find while encoding, or null

  void look_at(std::uint64_t point, T decoded, std::vector<SparseEntry>& found) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (patches->check.accepts(field[point], decoded)) return;
      if (patches->missing.any() && patches->missing(point)) return;
      found.push_back(exact_value(point, field[point]));
    }
  }
};

/// Whether all points of a block inside the field are certainly within the bound.
template <int rank, class T>
bool is_certain(const EncodeTask<T>& task, const ZfpPlace<rank>& place, const T* decoded) {
  bool certain = true;
  if constexpr (std::is_floating_point_v<T>) {
    for_whole_rows<rank>(task.grid, place, [&](unsigned at, std::uint64_t offset) {
      for (unsigned x = 0; x < 4; ++x) {
        certain &= task.patches->check.is_certain(task.field[offset + x], decoded[at + x]);
      }
    });
  }
  return certain;
}

template <int rank, class T>
void look_at_block(const EncodeTask<T>& task, const ZfpPlace<rank>& place, const T* decoded,
                   std::vector<SparseEntry>& found) {
  if (place.is_whole && is_certain<rank>(task, place, decoded)) return;
  zfp::for_rows<rank>(task.grid, place, [&](unsigned at, std::uint64_t offset, bool inside) {
    if (!inside) return;
    for (unsigned x = 0; x < place.extents[0]; ++x) {
      task.look_at(offset + x, decoded[at + x], found);
    }
  });
}

template <class T, int rank>
void encode_block(const EncodeTask<T>& task, std::uint64_t block, Writer& out,
                  std::vector<SparseEntry>& found) {
  using Block = ZfpBlock<T, rank>;
  const ZfpPlace<rank> place(task.grid, block);
  T values[Block::values];
  load_block<rank>(task.grid, place, task.field, values);
  typename Block::Word planes[Block::Layout::words];
  const ZfpHead head = task.patches == nullptr
                           ? Block::to_planes(task.params, values, planes)
                           : Block::to_planes(task.params, values, planes, [&](const T* decoded) {
                               look_at_block<rank>(task, place, decoded, found);
                             });
  Block::write(task.params, head, planes, out);
}

template <class T, int rank>
void decode_block(const ZfpParams& params, const ZfpGrid& grid, std::uint64_t block,
                  const ZfpLimits<T>& limits, Reader& in, T* field) {
  using Block = ZfpBlock<T, rank>;
  typename Block::Word planes[Block::Layout::words];
  int exponent = 0;
  const ZfpHead head = Block::read(params, in, exponent, planes);
  const ZfpPlace<rank> place(grid, block);
  if (head.planes == 0 && place.is_whole) {  // common in sparse fields
    const T zero = limits(T{0});
    for_whole_rows<rank>(grid, place, [&](unsigned /*at*/, std::uint64_t offset) {
      std::fill_n(field + offset, 4, zero);
    });
    return;
  }
  T values[Block::values];
  Block::from_planes(params, head, exponent, planes, values);
  for (T& value : values) value = limits(value);
  store_block<rank>(grid, place, values, field);
}

/// Writes bits to position `at` of zeroed words. Thread-safe for strings that share a word.
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

struct Part {
  std::vector<std::uint64_t> words;
  BitCount bits = 0;
  std::vector<SparseEntry> patches;
};

template <class T, int rank>
Part encode_part(const EncodeTask<T>& task, std::uint64_t first, std::uint64_t end,
                 std::vector<std::uint64_t>& scratch, std::uint32_t* chunk_bits) {
  Part part;
  Writer out(scratch.data());
  for (std::uint64_t block = first; block < end;) {
    const std::uint64_t chunk_end = std::min(end, block + task.chunk);
    const BitCount start = out.position();
    for (; block < chunk_end; ++block) encode_block<T, rank>(task, block, out, part.patches);
    *chunk_bits++ = static_cast<std::uint32_t>(out.position() - start);
  }
  out.flush();
  part.bits = out.position();
  part.words.assign(scratch.begin(),
                    scratch.begin() + static_cast<std::ptrdiff_t>(ceil_div(part.bits, 64)));
  return part;
}

ZfpStream join(const std::vector<Part>& parts) {
  ZfpStream stream;
  std::vector<BitCount> starts;
  for (const Part& part : parts) {
    starts.push_back(stream.bits);
    stream.bits += part.bits;
  }
  stream.bytes.resize(zfp_stream_bytes(stream.bits));
  auto* const words = reinterpret_cast<std::uint64_t*>(stream.bytes.data());
  parallel_for(parts.size(),
               [&](std::uint64_t i) { put_bits(parts[i].words, parts[i].bits, starts[i], words); });
  return stream;
}

/// Finds patches by decoding, for truncated blocks.
template <class T>
void look_at_stream(const EncodeTask<T>& task, const Dims& dims, const ZfpStream& stream,
                    ZfpPatches<T>& patches) {
  std::vector<BitCount> starts;
  BitCount at = 0;
  for (const std::uint32_t bits : stream.chunk_bits) {
    starts.push_back(at);
    at += bits;
  }
  std::vector<T> decoded(dims.count());
  zfp_decode<T>(task.params, dims, stream.bytes, starts, task.chunk, decoded);
  EncodeTask<T> look = task;
  look.patches = &patches;
  constexpr std::uint64_t piece_points = std::uint64_t{1} << 16;
  std::vector<std::vector<SparseEntry>> found(ceil_div(decoded.size(), piece_points));
  parallel_for(found.size(), [&](std::uint64_t piece) {
    const auto end = std::min<std::uint64_t>(decoded.size(), (piece + 1) * piece_points);
    for (std::uint64_t i = piece * piece_points; i < end; ++i) {
      look.look_at(i, decoded[i], found[piece]);
    }
  });
  for (const std::vector<SparseEntry>& some : found) append_entries(patches.found, some);
}

}  // namespace

template <class T>
ZfpStream zfp_encode(const ZfpParams& params, const Dims& dims, std::span<const T> values,
                     std::uint32_t chunk, ZfpPatches<T>* patches) {
  const ZfpGrid grid(dims);
  const bool is_cut = zfp_cuts_blocks<T>(params, grid.rank);
  const EncodeTask<T> task{params,       grid,  values.data(),
                           grid.count(), chunk, is_cut ? nullptr : patches};
  const std::uint64_t chunks_per_part = ceil_div(task_blocks, chunk);
  const std::uint64_t blocks_per_part = chunks_per_part * chunk;
  const std::uint64_t scratch_words =
      ceil_div(std::min(task.blocks, blocks_per_part) * zfp_most_block_bits<T>(params, grid.rank),
               64) +
      padding_words;

  std::vector<std::uint32_t> chunk_bits(ceil_div(task.blocks, chunk));
  std::vector<Part> parts(ceil_div(task.blocks, blocks_per_part));
  with_rank(grid.rank, [&](auto rank) {
    parallel_for(
        parts.size(), [&] { return std::vector<std::uint64_t>(scratch_words); },
        [&](std::vector<std::uint64_t>& scratch, std::uint64_t i) {
          const std::uint64_t first = i * blocks_per_part;
          parts[i] =
              encode_part<T, rank>(task, first, std::min(task.blocks, first + blocks_per_part),
                                   scratch, chunk_bits.data() + i * chunks_per_part);
        },
        [](std::vector<std::uint64_t>&) {});
  });
  ZfpStream stream = join(parts);
  stream.chunk_bits = std::move(chunk_bits);
  if (patches == nullptr) return stream;
  if (is_cut) {
    look_at_stream(task, dims, stream, *patches);
  } else {
    for (const Part& part : parts) append_entries(patches->found, part.patches);
    sort_entries(patches->found);
  }
  return stream;
}

template <class T>
BitCount zfp_decode(const ZfpParams& params, const Dims& dims, Bytes stream,
                    std::span<const BitCount> starts, std::uint32_t chunk, std::span<T> values,
                    const ZfpLimits<T>& limits) {
  const ZfpGrid grid(dims);
  const std::uint64_t blocks = grid.count();
  const bool is_fixed = params.has_fixed_rate();
  const std::uint64_t chunks = is_fixed ? ceil_div(blocks, chunk) : starts.size();
  const auto start_of = [&](std::uint64_t c) {
    return is_fixed ? c * chunk * params.max_bits : starts[c];
  };
  const BitCount stream_bits = BitCount{stream.size() / 8} * 64;
  const std::uint64_t chunks_per_task = chunks == 1 ? 1 : ceil_div(task_blocks, chunk);
  std::atomic<bool> is_damaged = false;
  BitCount end = 0;
  with_rank(grid.rank, [&](auto rank) {
    parallel_for(ceil_div(chunks, chunks_per_task), [&](std::uint64_t task) {
      for (std::uint64_t c = task * chunks_per_task;
           c < std::min(chunks, (task + 1) * chunks_per_task) && !is_damaged; ++c) {
        const bool is_last = c + 1 == chunks;
        const std::uint64_t last = is_last ? blocks : (c + 1) * chunk;
        Reader in(StreamWords(stream), stream.size() / 8, start_of(c));
        for (std::uint64_t block = c * chunk; block < last && in.position() <= stream_bits;
             ++block) {
          decode_block<T, rank>(params, grid, block, limits, in, values.data());
        }
        if (is_last) end = in.position();
        if (is_last ? end > stream_bits : in.position() != start_of(c + 1)) is_damaged = true;
      }
    });
  });
  if (is_damaged) throw ArchiveError("a zfp stream's blocks do not end where its index says");
  return end;
}

template <class T>
std::vector<std::uint32_t> zfp_walk(const ZfpParams& params, const Dims& dims, Bytes stream,
                                    BitCount at, std::uint32_t chunk, std::uint64_t first_block) {
  const ZfpGrid grid(dims);
  const std::uint64_t blocks = grid.count() - first_block;
  const BitCount stream_bits = BitCount{stream.size() / 8} * 64;
  const std::uint64_t fewest_bits = std::max(params.min_bits, 1U);  // of a block
  if (stream_bits < at || (stream_bits - at) / fewest_bits < blocks) {
    throw ArchiveError("a zfp stream is truncated");
  }
  std::vector<std::uint32_t> chunk_bits(ceil_div(blocks, chunk), chunk * params.max_bits);
  if (params.has_fixed_rate()) {
    chunk_bits.back() -=
        static_cast<std::uint32_t>(chunk_bits.size() * chunk - blocks) * params.max_bits;
    return chunk_bits;
  }
  with_rank(grid.rank, [&](auto rank) {
    Reader in(StreamWords(stream), stream.size() / 8, at);
    for (std::uint64_t c = 0; c < chunk_bits.size(); ++c) {
      const BitCount start = in.position();
      for (std::uint64_t i = c * chunk; i < std::min(blocks, (c + 1) * chunk); ++i) {
        ZfpBlock<T, rank>::pass(params, in);
      }
      if (in.position() > stream_bits) throw ArchiveError("a zfp stream is truncated");
      chunk_bits[c] = static_cast<std::uint32_t>(in.position() - start);
    }
  });
  return chunk_bits;
}

std::vector<std::uint32_t> zfp_joined_chunks(std::span<const std::uint32_t> block_bits,
                                             std::uint32_t chunk) {
  std::vector<std::uint32_t> chunk_bits(ceil_div(block_bits.size(), chunk));
  for (std::size_t i = 0; i < block_bits.size(); ++i) chunk_bits[i / chunk] += block_bits[i];
  return chunk_bits;
}

#define CUSZI_INSTANTIATE(T)                                                                      \
  template ZfpStream zfp_encode(const ZfpParams&, const Dims&, std::span<const T>, std::uint32_t, \
                                ZfpPatches<T>*);                                                  \
  template BitCount zfp_decode(const ZfpParams&, const Dims&, Bytes, std::span<const BitCount>,   \
                               std::uint32_t, std::span<T>, const ZfpLimits<T>&);                 \
  template std::vector<std::uint32_t> zfp_walk<T>(const ZfpParams&, const Dims&, Bytes, BitCount, \
                                                  std::uint32_t, std::uint64_t)
CUSZI_INSTANTIATE(float);
CUSZI_INSTANTIATE(double);
CUSZI_INSTANTIATE(std::int32_t);
CUSZI_INSTANTIATE(std::int64_t);
#undef CUSZI_INSTANTIATE

}  // namespace cuszi::cpu
