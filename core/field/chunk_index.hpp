#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/units.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// Side-channel index for parallel decoding of variable-rate chunks (Noordsij 2019, chapter 4).
/// Units are bits.
///
///     offset  64-bit offsets of all chunks
///     length  a byte: bytes per length (2 or 4); lengths of all chunks but the last
///     hybrid  the same byte; a 64-bit offset per partition; lengths of all chunks but each
///             partition's last
///
/// Streams of fewer than two chunks have no index.
std::vector<std::byte> encode_index(IndexKind kind, std::uint32_t partition,
                                    std::span<const std::uint32_t> chunk_bits);

/// The first bit of each chunk; of the first only for IndexKind::none. Throws ArchiveError if the
/// index does not fit `chunks` chunks in `stream_bits` bits.
std::vector<BitCount> decode_index(IndexKind kind, std::uint32_t partition, Bytes index,
                                   std::uint64_t chunks, BitCount stream_bits);

void write_index_params(IndexKind kind, std::uint32_t partition, ByteWriter& out);
/// Throws ArchiveError.
void read_index_params(ByteReader& in, IndexKind& kind, std::uint32_t& partition);

/// Layout of an index of `chunks` chunks with lengths of `length_bytes` (2 or 4).
struct IndexLayout {
  std::uint64_t chunks_per_offset = 1;  ///< the last chunk of a run has no length
  bool has_offsets = false;
  ByteCount lengths_at = 0;
  ByteCount size = 0;
};
IndexLayout index_layout(IndexKind kind, std::uint32_t partition, std::uint64_t chunks,
                         unsigned length_bytes);

/// For chunks of up to `most_bits` bits.
constexpr unsigned bytes_per_length(std::uint64_t most_bits) { return most_bits > 0xFFFF ? 4 : 2; }

}  // namespace cuszi
