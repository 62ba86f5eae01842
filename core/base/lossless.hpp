#pragma once

#include <vector>

#include "core/base/units.hpp"

namespace cuszi {

/// The most that a byte of a compressed section may expand to; a section that claims more is taken
/// for hostile before anything is allocated for it. (zstd's own limit is about half of this.)
inline constexpr ByteCount max_expansion = 1 << 16;

std::vector<std::byte> zstd_compress(Bytes bytes, int level);

/// Fills `out` exactly. Throws ArchiveError if `packed` does not decode to out.size() bytes.
void zstd_decompress(Bytes packed, MutableBytes out);

/// Values without loss: the bytes of equal significance side by side, then zstd. For fields whose
/// bound leaves nothing to lose.
std::vector<std::byte> pack_values(Bytes values, ByteCount value_size);

/// Restores values, of `value_size` bytes each, that pack_values() has packed. Throws ArchiveError
/// if `packed` does not fill `values` exactly.
void unpack_values(Bytes packed, ByteCount value_size, MutableBytes values);

}  // namespace cuszi
