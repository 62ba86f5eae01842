#pragma once

#include "core/field/chunk_index.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Index (core/field/chunk_index.hpp) for chunks of at most `most_bits` bits. `starts` includes the
/// last chunk's end. Synchronises if `most_bits` does not decide the width of lengths.
Bytes encode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                   const BitCount* starts, std::uint64_t chunks, std::uint64_t most_bits);

/// First bits of chunks, then `stream_bits`; one start for IndexKind::none. Sets a flaw if the
/// index leaves the stream, throws ArchiveError if its size is wrong. `first_byte` is index[0] on
/// the host.
const BitCount* decode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                             Bytes index, std::byte first_byte, std::uint64_t chunks,
                             BitCount stream_bits);

}  // namespace cuszi::gpu
