#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Readers reject sections of larger expansion before they allocate. About twice zstd's limit.
inline constexpr ByteCount max_expansion = 1 << 16;

std::vector<std::byte> zstd_compress(Bytes bytes, int level);

/// Fills `out` exactly. Throws ArchiveError otherwise.
void zstd_decompress(Bytes packed, MutableBytes out);

/// Calls each(i) for all i below count, in any order and possibly in parallel.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& each)>;

inline void one_by_one(std::size_t count, const std::function<void(std::size_t)>& each) {
  for (std::size_t i = 0; i < count; ++i) each(i);
}

/// Pieces of 128 KiB. If there are several, their packed sizes (u32 each) precede their frames.
std::vector<std::byte> zstd_compress_pieces(Bytes bytes, int level, const ForEach& for_each);

void zstd_decompress_pieces(Bytes packed, MutableBytes out, const ForEach& for_each);

/// Lossless: splits the values into byte planes, then zstd.
std::vector<std::byte> pack_values(Bytes values, ByteCount value_size);

/// Inverse of pack_values(). Throws ArchiveError if `packed` does not fill `values` exactly.
void unpack_values(Bytes packed, ByteCount value_size, MutableBytes values);

/// `value` converted to `dtype`, its bits zero-extended.
std::uint64_t bits_of(double value, DType dtype);

/// The raw section of a constant frame: the value's bits, repeated until at least `least` bytes.
std::vector<std::byte> encode_constant(std::uint64_t bits, DType dtype, ByteCount least);

/// Inverse of encode_constant(). Throws ArchiveError if the values differ.
std::uint64_t decode_constant(Bytes raw, DType dtype);

}  // namespace cuszi
