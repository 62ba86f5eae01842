#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/units.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// The side-channel information that lets every chunk of a variable-rate stream be decoded at once
/// (Noordsij 2019, chapter 4: strategies offset, length and hybrid). Units are bits.
///
///     offset  64-bit offsets of all chunks
///     length  one byte, the bytes per length (2 or 4); the lengths of all chunks but the last
///     hybrid  the same byte; a 64-bit offset per partition; the lengths of all chunks but the last
///             of each partition
///
/// A stream of one chunk, or of none, needs no index and has none.
std::vector<std::byte> encode_index(IndexKind kind, std::uint32_t partition,
                                    std::span<const std::uint32_t> chunk_bits);

/// The first bit of every chunk. Throws ArchiveError if the index does not fit `chunks` chunks in a
/// stream of `stream_bits` bits. For IndexKind::none only the first chunk is known.
std::vector<BitCount> decode_index(IndexKind kind, std::uint32_t partition, Bytes index,
                                   std::uint64_t chunks, BitCount stream_bits);

/// What a coder says of its index in an archive: its kind and the chunks per partition.
void write_index_params(IndexKind kind, std::uint32_t partition, ByteWriter& out);
/// Throws ArchiveError.
void read_index_params(ByteReader& in, IndexKind& kind, std::uint32_t& partition);

/// The parts of an index of `chunks` chunks whose lengths take `length_bytes` (2 or 4) bytes each.
struct IndexLayout {
  std::uint64_t chunks_per_offset = 1;  ///< the last chunk of each such run has no length
  bool has_offsets = false;
  ByteCount lengths_at = 0;
  ByteCount size = 0;
};
IndexLayout index_layout(IndexKind kind, std::uint32_t partition, std::uint64_t chunks,
                         unsigned length_bytes);

/// The bytes per length where no chunk has more bits than this.
constexpr unsigned bytes_per_length(std::uint64_t most_bits) { return most_bits > 0xFFFF ? 4 : 2; }

}  // namespace cuszi
