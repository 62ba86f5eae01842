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

template <class T>
struct ZfpPatches {
  ZfpCheck<T> check;
  const Mask& missing;  ///< need no patches
  std::vector<SparseEntry> found;
};

/// A bit string of blocks, padded to a 64-bit word.
struct ZfpStream {
  std::vector<std::byte> bytes;
  BitCount bits = 0;                      ///< without padding
  std::vector<std::uint32_t> chunk_bits;  ///< by chunk
};

/// Bit-identical to libzfp, for any number of threads. `chunk`: blocks per chunk. T is float,
/// double, std::int32_t or std::int64_t. `patches`, for floating-point types, receives the points
/// to patch, in order.
template <class T>
ZfpStream zfp_encode(const ZfpParams& params, const Dims& dims, std::span<const T> values,
                     std::uint32_t chunk, ZfpPatches<T>* patches = nullptr);

std::vector<std::uint32_t> zfp_joined_chunks(std::span<const std::uint32_t> block_bits,
                                             std::uint32_t chunk);

/// Chunks start at bits `starts`: one start without index, none at fixed rate. Clamps to `limits`.
/// Returns the bit behind the last block. Throws ArchiveError if the stream is truncated or a chunk
/// does not end at the next one's start.
template <class T>
BitCount zfp_decode(const ZfpParams& params, const Dims& dims, Bytes stream,
                    std::span<const BitCount> starts, std::uint32_t chunk, std::span<T> values,
                    const ZfpLimits<T>& limits = {});

/// Bits of each chunk from `first_block` on, which starts at bit `at`, for an index. Throws
/// ArchiveError if the stream is truncated.
template <class T>
std::vector<std::uint32_t> zfp_walk(const ZfpParams& params, const Dims& dims, Bytes stream,
                                    BitCount at, std::uint32_t chunk,
                                    std::uint64_t first_block = 0);

}  // namespace cuszi::cpu
