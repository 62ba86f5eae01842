#pragma once

#include "core/field/chunk_index.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The index of chunks that start at these bits, of at most `most_bits` bits each (see
/// core/field/chunk_index). `starts` holds the end of the last chunk too. Waits only where the
/// bytes per length are in doubt.
Bytes encode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                   const BitCount* starts, std::uint64_t chunks, std::uint64_t most_bits);

/// The first bit of every chunk, and `stream_bits` behind the last. Sets a flaw if the index leaves
/// the stream; throws ArchiveError if it has a wrong size. `first_byte` is a copy of index[0].
/// With IndexKind::none there is one start.
const BitCount* decode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                             Bytes index, std::byte first_byte, std::uint64_t chunks,
                             BitCount stream_bits);

}  // namespace cuszi::gpu
