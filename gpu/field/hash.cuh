#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/hash.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// block_hash of bytes in the device's memory: all 16 KiB blocks at once, then their hashes on the
/// host. Waits.
std::uint64_t block_hash(DeviceContext& gpu, Bytes bytes);

/// Starts to compute the block_hash of several byte strings in the device's memory at once. The
/// returned function gives the hashes; call it after the next sync().
std::function<std::vector<std::uint64_t>()> start_block_hashes(DeviceContext& gpu,
                                                               std::span<const Bytes> strings);

/// Like start_block_hashes(), for up to 65535 strings, as batches have.
std::function<std::vector<std::uint64_t>()> start_many_hashes(DeviceContext& gpu,
                                                              std::span<const Bytes> strings);
/// The block_hash of several byte strings in the device's memory. Waits.
std::vector<std::uint64_t> block_hashes(DeviceContext& gpu, std::span<const Bytes> strings);

}  // namespace cuszi::gpu
