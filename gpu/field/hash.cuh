#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// block_hash of device memory: blocks in parallel, their hashes combined on the host.
/// Synchronises.
std::uint64_t block_hash(DeviceContext& gpu, Bytes bytes);

/// For strings in device memory. Call the result after the next sync(). Strings that are aligned to
/// 8 bytes can also be copied, one after the other, to device memory.
std::function<std::vector<std::uint64_t>()> start_block_hashes(DeviceContext& gpu,
                                                               std::span<const Bytes> strings,
                                                               std::byte* copy = nullptr);

/// For up to 65535 strings.
std::function<std::vector<std::uint64_t>()> start_many_hashes(DeviceContext& gpu,
                                                              std::span<const Bytes> strings);
/// Synchronises.
std::vector<std::uint64_t> block_hashes(DeviceContext& gpu, std::span<const Bytes> strings);

}  // namespace cuszi::gpu
