#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "core/field/mask.hpp"
#include "core/field/sparse_list.hpp"
#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_check.hpp"

namespace cuszi::cpu {

/// Finds the points of a frame that must be patched.
template <class T>
struct ZfpPatches {
  ZfpCheck<T> check;
  const Mask& missing;  ///< points that do not matter
  std::vector<SparseEntry> found;
};

/// A field as zfp codes it: a string of bits, block by block, ended with a whole word.
struct ZfpStream {
  std::vector<std::byte> bytes;
  BitCount bits = 0;                      ///< of all blocks
  std::vector<std::uint32_t> chunk_bits;  ///< of each chunk of blocks
};

/// Codes a field, `chunk` blocks to a chunk. The stream is the zfp library's, bit for bit; threads
/// change nothing. T is float, double, std::int32_t or std::int64_t. If there are `patches`, of
/// floating-point types, they get to see all points, and those found are in their order.
template <class T>
ZfpStream zfp_encode(const ZfpParams& params, const Dims& dims, std::span<const T> values,
                     std::uint32_t chunk, ZfpPatches<T>* patches = nullptr);

/// The bits of chunks of `chunk` blocks, given those of each block.
std::vector<std::uint32_t> zfp_joined_chunks(std::span<const std::uint32_t> block_bits,
                                             std::uint32_t chunk);

/// Restores a field from a stream whose chunks of `chunk` blocks begin at the bits `starts`; one
/// start is enough where there is no index; at fixed rate none is needed. Values are brought within
/// `limits`. Returns the bit after the last block. Throws
/// ArchiveError if a chunk does not end where the next one begins, or the stream ends before it.
template <class T>
BitCount zfp_decode(const ZfpParams& params, const Dims& dims, Bytes stream,
                    std::span<const BitCount> starts, std::uint32_t chunk, std::span<T> values,
                    const ZfpLimits<T>& limits = {});

/// Passes over the blocks of a stream from `first_block` on, which begins at bit `at`, and tells
/// the bits of each chunk of `chunk` blocks: what an index needs. Throws ArchiveError if the stream
/// ends before.
template <class T>
std::vector<std::uint32_t> zfp_walk(const ZfpParams& params, const Dims& dims, Bytes stream,
                                    BitCount at, std::uint32_t chunk,
                                    std::uint64_t first_block = 0);

}  // namespace cuszi::cpu
