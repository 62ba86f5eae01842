#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace cuszi {

inline constexpr ByteCount hash_block_bytes = 16 * 1024;

/// The checksum of archives: XXH64 (seed 0) of the little-endian XXH64 hashes of `bytes`' 16 KiB
/// blocks; an empty string has none. Blocks can be hashed in parallel.
std::uint64_t block_hash(Bytes bytes);

std::uint64_t combine_block_hashes(std::span<const std::uint64_t> hashes);

}  // namespace cuszi
