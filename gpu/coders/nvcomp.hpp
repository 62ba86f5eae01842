#pragma once

#include <cuda_runtime_api.h>

#include "core/archive/frame.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

// Bitcomp of nvCOMP 6, loaded on first use: CUSZI_NVCOMP_LIB, else libnvcomp.so.6 on the linker's
// path, in ~/.local/lib/cuszi or in /usr/local/lib/cuszi. Functions throw DeviceError if it fails
// or cannot be loaded.

struct BitcompContext;

struct BitcompView {
  bool sparse = false;    ///< for mostly zero bytes
  ByteCount integer = 1;  ///< width of the unsigned integers in bytes: 1, 2, 4 or 8
};

struct BitcompStream {
  ByteCount string_bytes;
  ByteCount integer;
};

inline constexpr ByteCount bitcomp_header_bytes = 32;

/// `header` is in host memory, `size` the stream's bytes. Throws ArchiveError if it is not a
/// Bitcomp header.
BitcompStream read_bitcomp_header(const std::byte* header, ByteCount size);

/// For strings of one size, a multiple of the integer's. Pointers are to device memory; streams are
/// 8-byte aligned.
class BitcompPlan {
 public:
  BitcompPlan(ByteCount size, BitcompView view, cudaStream_t cuda_stream);
  /// `header` is in host memory.
  BitcompPlan(const std::byte* header, cudaStream_t cuda_stream);
  BitcompPlan(BitcompPlan&& other) noexcept;
  BitcompPlan& operator=(BitcompPlan&&) = delete;
  BitcompPlan(const BitcompPlan&) = delete;
  BitcompPlan& operator=(const BitcompPlan&) = delete;
  ~BitcompPlan();

  /// Upper limit of the stream of a string of `size` bytes.
  static ByteCount most_bytes(ByteCount size);
  void pack(const std::byte* string, std::byte* stream, std::size_t* stream_bytes) const;
  void unpack(const std::byte* stream, std::byte* string) const;

 private:
  BitcompContext* context_ = nullptr;
  cudaStream_t cuda_stream_;
};

/// Packs sections by nvCOMP's Bitcomp where that saves enough (cuSZ-i, SC'24, VI-B). Synchronises.
/// Throws DeviceError.
void bitcomp_pack(DeviceContext& gpu, DType dtype, Sections& sections);

/// The sections' hash must have been verified: nvCOMP may crash the device on damaged bytes.
/// Synchronises. Throws ArchiveError if the size is wrong, DeviceError.
void bitcomp_unpack(DeviceContext& gpu, Sections& sections);

}  // namespace cuszi::gpu
