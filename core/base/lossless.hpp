#pragma once

#include <functional>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi {

/// The most that a byte of a compressed section may expand to; a section that claims more is taken
/// for hostile before anything is allocated for it. (zstd's own limit is about half of this.)
inline constexpr ByteCount max_expansion = 1 << 16;

std::vector<std::byte> zstd_compress(Bytes bytes, int level);

/// Fills `out` exactly. Throws ArchiveError if `packed` does not decode to out.size() bytes.
void zstd_decompress(Bytes packed, MutableBytes out);

/// Calls each(i) for all i below count, in any order, perhaps several at once.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& each)>;

inline void one_by_one(std::size_t count, const std::function<void(std::size_t)>& each) {
  for (std::size_t i = 0; i < count; ++i) each(i);
}

/// zstd by pieces of 1 MiB, that can be made and read side by side: their packed sizes (u32 each)
/// if there are several, then a zstd frame of each.
std::vector<std::byte> zstd_compress_pieces(Bytes bytes, int level, const ForEach& for_each);

/// Fills `out` exactly. Throws ArchiveError if `packed` does not decode to out.size() bytes.
void zstd_decompress_pieces(Bytes packed, MutableBytes out, const ForEach& for_each);

/// Values without loss: the bytes of equal significance side by side, then zstd. For fields whose
/// bound leaves nothing to lose.
std::vector<std::byte> pack_values(Bytes values, ByteCount value_size);

/// Restores values, of `value_size` bytes each, that pack_values() has packed. Throws ArchiveError
/// if `packed` does not fill `values` exactly.
void unpack_values(Bytes packed, ByteCount value_size, MutableBytes values);

}  // namespace cuszi
