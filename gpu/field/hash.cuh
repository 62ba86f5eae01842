#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/hash.hpp"
#include "gpu/runtime/work.hpp"

namespace cuszi::gpu {

/// block_hash of bytes in the device's memory: all 16 KiB blocks at once, then their hashes on the
/// host. Waits.
std::uint64_t block_hash(Work& work, Bytes bytes);

/// Starts to make those of several strings at once, told after the next sync().
std::function<std::vector<std::uint64_t>()> start_block_hashes(Work& work,
                                                               std::span<const Bytes> strings);
/// The same; waits.
std::vector<std::uint64_t> block_hashes(Work& work, std::span<const Bytes> strings);

}  // namespace cuszi::gpu
