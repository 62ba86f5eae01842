#pragma once

#include <cuda_runtime_api.h>

#include "core/base/units.hpp"

namespace cuszi::gpu {

// Bitcomp, NVIDIA's lossless codec, of the library nvCOMP 6. The library is loaded when it is first
// asked for, so that neither a build nor any other use of the tool needs it: the file that
// CUSZI_NVCOMP_LIB names, else libnvcomp.so.6 where the dynamic linker looks, in
// ~/.local/lib/cuszi or in /usr/local/lib/cuszi. Everything throws DeviceError if it cannot be
// loaded or fails.

struct BitcompContext;

/// How Bitcomp reads a byte string.
struct BitcompView {
  bool sparse = false;    ///< mostly zero bytes: another algorithm
  ByteCount integer = 1;  ///< bytes of the unsigned integers that it consists of: 1, 2, 4 or 8
};

/// What the header of a Bitcomp stream tells.
struct BitcompStream {
  ByteCount string_bytes;
  ByteCount integer;
};

inline constexpr ByteCount bitcomp_header_bytes = 32;

/// Reads the header, in host memory, of a stream of `size` bytes. Throws ArchiveError if it is
/// none.
BitcompStream read_bitcomp_header(const std::byte* header, ByteCount size);

/// What Bitcomp is to do on a CUDA stream with strings of one size, a multiple of their integers'.
/// All pointers are to the device's memory; streams begin at multiples of 8 bytes.
class BitcompPlan {
 public:
  BitcompPlan(ByteCount size, BitcompView view, cudaStream_t cuda_stream);
  /// For a stream with this header, a copy in host memory.
  BitcompPlan(const std::byte* header, cudaStream_t cuda_stream);
  BitcompPlan(BitcompPlan&& other) noexcept;
  BitcompPlan& operator=(BitcompPlan&&) = delete;
  BitcompPlan(const BitcompPlan&) = delete;
  BitcompPlan& operator=(const BitcompPlan&) = delete;
  ~BitcompPlan();

  /// What the stream of a string of `size` bytes may need.
  static ByteCount most_bytes(ByteCount size);
  void pack(const std::byte* string, std::byte* stream, std::size_t* stream_bytes) const;
  void unpack(const std::byte* stream, std::byte* string) const;

 private:
  BitcompContext* context_ = nullptr;
  cudaStream_t cuda_stream_;
};

}  // namespace cuszi::gpu
