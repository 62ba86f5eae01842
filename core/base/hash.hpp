#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace cuszi {

inline constexpr ByteCount hash_block_bytes = 16 * 1024;

/// The checksum of archives: XXH64 (seed 0) over the XXH64 hashes, as little-endian words, of the
/// 16 KiB blocks of `bytes` (the last one may be short; no bytes have no blocks). Blocks are
/// independent, so that many threads can hash one string.
std::uint64_t block_hash(Bytes bytes);

/// The checksum, given the hashes of the blocks.
std::uint64_t combine_block_hashes(std::span<const std::uint64_t> hashes);

}  // namespace cuszi
