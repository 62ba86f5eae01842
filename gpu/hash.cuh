#pragma once

#include "core/hash.hpp"
#include "gpu/work.hpp"

namespace cuszi::gpu {

/// block_hash of bytes in the device's memory: all 16 KiB blocks at once, then their hashes on the
/// host. Waits.
std::uint64_t block_hash(Work& work, Bytes bytes);

}  // namespace cuszi::gpu
