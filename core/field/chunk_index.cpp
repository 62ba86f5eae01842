#include "core/field/chunk_index.hpp"

#include <algorithm>

namespace cuszi {

namespace {

constexpr std::uint64_t max_partition = std::uint64_t{1} << 20;

void put_length(ByteWriter& out, std::uint8_t width, std::uint32_t bits) {
  out.append(std::as_bytes(std::span(&bits, 1)).first(width));
}

/// Chunks per offset; `chunks` if there are no offsets.
std::uint64_t run_length(IndexKind kind, std::uint32_t partition, std::uint64_t chunks) {
  if (kind == IndexKind::offset) return 1;
  return kind == IndexKind::hybrid ? partition : chunks;
}

bool has_length(std::uint64_t i, std::uint64_t chunks, std::uint64_t partition) {
  return i + 1 < chunks && (i + 1) % partition != 0;
}

}  // namespace

void write_index_params(IndexKind kind, std::uint32_t partition, ByteWriter& out) {
  out.put(kind);
  out.varint(partition);
}

void read_index_params(ByteReader& in, IndexKind& kind, std::uint32_t& partition) {
  kind = in.get<IndexKind>();
  const std::uint64_t chunks = in.varint();
  if (kind > IndexKind::hybrid || chunks == 0 || chunks > max_partition) {
    throw ArchiveError("a coder's index is of an unknown kind or its partitions are out of range");
  }
  partition = static_cast<std::uint32_t>(chunks);
}

std::vector<std::byte> encode_index(IndexKind kind, std::uint32_t partition,
                                    std::span<const std::uint32_t> chunk_bits) {
  ByteWriter out;
  const std::uint64_t chunks = chunk_bits.size();
  if (kind == IndexKind::none || chunks < 2) return out.take();
  const std::uint64_t chunks_per_offset = run_length(kind, partition, chunks);
  const auto width = static_cast<std::uint8_t>(
      bytes_per_length(*std::max_element(chunk_bits.begin(), chunk_bits.end())));
  if (kind != IndexKind::offset) out.put(width);
  BitCount offset = 0;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (kind != IndexKind::length && i % chunks_per_offset == 0) out.put(offset);
    offset += chunk_bits[i];
  }
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (has_length(i, chunks, chunks_per_offset)) put_length(out, width, chunk_bits[i]);
  }
  return out.take();
}

std::vector<BitCount> decode_index(IndexKind kind, std::uint32_t partition, Bytes index,
                                   std::uint64_t chunks, BitCount stream_bits) {
  ByteReader in(index, "the chunk index");
  if (kind == IndexKind::none || chunks < 2) {
    in.expect_end();
    return {0};
  }
  const std::uint64_t chunks_per_offset = run_length(kind, partition, chunks);
  const std::uint8_t width = kind == IndexKind::offset ? 0 : in.get<std::uint8_t>();
  if (kind != IndexKind::offset && width != 2 && width != 4) {
    throw ArchiveError("the chunk index has lengths of " + std::to_string(width) + " bytes");
  }
  const std::uint64_t offsets = kind == IndexKind::length ? 0 : ceil_div(chunks, chunks_per_offset);
  if (offsets > in.remaining() / sizeof(BitCount))
    throw ArchiveError("the chunk index is truncated");
  ByteReader offset_reader(in.take(offsets * sizeof(BitCount)), "the chunk index");

  std::vector<BitCount> starts(chunks);
  BitCount at = 0;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (kind != IndexKind::length && i % chunks_per_offset == 0) {
      const auto offset = offset_reader.get<BitCount>();
      if (offset < at) throw ArchiveError("the chunk index is not ascending");
      at = offset;
    }
    if (at > stream_bits) throw ArchiveError("the chunk index leaves the stream");
    starts[i] = at;
    if (has_length(i, chunks, chunks_per_offset)) {
      at += width == 2 ? in.get<std::uint16_t>() : in.get<std::uint32_t>();
    }
  }
  in.expect_end();
  return starts;
}

IndexLayout index_layout(IndexKind kind, std::uint32_t partition, std::uint64_t chunks,
                         unsigned length_bytes) {
  IndexLayout layout;
  if (kind == IndexKind::none || chunks < 2) return layout;
  layout.chunks_per_offset = run_length(kind, partition, chunks);
  layout.has_offsets = kind != IndexKind::length;
  const std::uint64_t runs = ceil_div(chunks, layout.chunks_per_offset);
  const ByteCount head = kind == IndexKind::offset ? 0 : 1;
  layout.lengths_at = head + (layout.has_offsets ? runs * sizeof(BitCount) : 0);
  layout.size = layout.lengths_at + (chunks - runs) * length_bytes;
  return layout;
}

}  // namespace cuszi
