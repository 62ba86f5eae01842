#pragma once

#include "core/base/dims.hpp"
#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_check.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A stream on the device, in 64-bit words, like cpu_ref/zfp/zfp.hpp's.
struct ZfpStream {
  const std::uint64_t* words = nullptr;
  BitCount bits = 0;
  const BitCount* starts = nullptr;  ///< of blocks, and the last one's end; null at fixed rate
  std::uint64_t blocks = 0;
};

template <class T>
struct ZfpPatches;

/// A thread per block encodes into slots, which are joined at the prefix sums of their lengths
/// (direct at fixed rate). Synchronises for the number of bits. `patches` may be null.
template <class T>
ZfpStream zfp_encode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, const T* values,
                     ZfpPatches<T>* patches = nullptr);

/// Starts of chunks of a variable-rate stream, and the last one's end.
const BitCount* zfp_chunk_starts(DeviceContext& gpu, const ZfpStream& stream, std::uint32_t chunk);

/// The stream may be unaligned. `starts`: first bits of chunks and the last one's end; unused at
/// fixed rate. A thread per chunk finds blocks, a thread per block decodes. Sets a flaw if a chunk
/// does not end at the next one's start.
template <class T>
void zfp_decode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, Bytes stream,
                const BitCount* starts, std::uint64_t chunk, const ZfpLimits<T>& limits, T* values);

}  // namespace cuszi::gpu
