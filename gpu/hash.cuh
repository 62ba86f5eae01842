#pragma once

#include <span>
#include <vector>

#include "core/hash.hpp"
#include "gpu/work.hpp"

namespace cuszi::gpu {

/// block_hash of bytes in the device's memory: all 16 KiB blocks at once, then their hashes on the
/// host. Waits.
std::uint64_t block_hash(Work& work, Bytes bytes);

/// Those of several strings at once.
std::vector<std::uint64_t> block_hashes(Work& work, std::span<const Bytes> strings);

}  // namespace cuszi::gpu
