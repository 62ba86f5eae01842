#pragma once

#include "core/base/dims.hpp"
#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_check.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A field as zfp codes it (see cpu_ref/zfp/zfp.hpp), on the device: words of 64 bits.
struct ZfpStream {
  const std::uint64_t* words = nullptr;
  BitCount bits = 0;
  const BitCount* starts = nullptr;  ///< of all blocks, and the end of the last; none at fixed rate
  std::uint64_t blocks = 0;
};

template <class T>
struct ZfpPatches;

/// Codes a field on the device. A thread per block writes the block's bits to a slot of its own;
/// sums over the blocks' lengths then tell where the bits go. At fixed rate the places are known
/// before. The host waits once, for the number of bits. Finds `patches` unless it is nullptr.
template <class T>
ZfpStream zfp_encode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, const T* values,
                     ZfpPatches<T>* patches = nullptr);

/// The first bit of every chunk of `chunk` blocks of a stream of variable rate, and the end of the
/// last chunk.
const BitCount* zfp_chunk_starts(DeviceContext& gpu, const ZfpStream& stream, std::uint32_t chunk);

/// Restores a field on the device from a stream, at any address. `starts` has the first bit of
/// every chunk of `chunk` blocks and the end of the last; at fixed rate it is not used. A thread
/// per chunk finds its blocks, then a thread per block decodes it. Sets a flaw if a chunk does not
/// end where the next one begins.
template <class T>
void zfp_decode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, Bytes stream,
                const BitCount* starts, std::uint64_t chunk, const ZfpLimits<T>& limits, T* values);

}  // namespace cuszi::gpu
