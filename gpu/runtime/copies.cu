#include <algorithm>

#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

struct CopyPolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned threads_of_small = 32;
  static constexpr ByteCount bytes_of_block = 4096;
  static constexpr ByteCount bytes_of_few = 1024;    ///< copied by few threads
  static constexpr ByteCount most_blocks = 64;       ///< per piece
  static constexpr std::size_t pieces = 64;          ///< in a launch's arguments
  static constexpr std::size_t most_pieces = 65535;  ///< of a launch: the limit of grid.y
};

template <std::size_t count>
struct CopyPieces {
  CopyPiece of[count];
};

/// By 8 bytes if both sides are aligned; one row of thread blocks per piece.
template <std::size_t count>
__global__ void __launch_bounds__(CopyPolicy::threads)
    copy_pieces(__grid_constant__ const CopyPieces<count> pieces) {
  using Word = std::uint64_t;
  const CopyPiece& piece = pieces.of[blockIdx.y];
  const ByteCount first = blockIdx.x * blockDim.x + threadIdx.x;
  const ByteCount all = gridDim.x * blockDim.x;
  const auto places =
      reinterpret_cast<std::uintptr_t>(piece.to) | reinterpret_cast<std::uintptr_t>(piece.from);
  const ByteCount words = places % sizeof(Word) == 0 ? piece.size / sizeof(Word) : 0;
  for (ByteCount i = first; i < words; i += all)
    reinterpret_cast<Word*>(piece.to)[i] = reinterpret_cast<const Word*>(piece.from)[i];
  for (ByteCount i = words * sizeof(Word) + first; i < piece.size; i += all)
    piece.to[i] = piece.from[i];
}

/// Unaligned; one row of thread blocks per piece.
__global__ void __launch_bounds__(CopyPolicy::threads) copy_many_pieces(const CopyPiece* pieces) {
  copy_piece(pieces[blockIdx.y]);
}

}  // namespace

void copy_many(DeviceContext& gpu, std::span<const CopyPiece> pieces) {
  while (pieces.size() > CopyPolicy::most_pieces) {
    copy_many(gpu, pieces.first(CopyPolicy::most_pieces));
    pieces = pieces.subspan(CopyPolicy::most_pieces);
  }
  if (pieces.empty()) return;
  ByteCount largest = 0;
  for (const CopyPiece& piece : pieces) largest = std::max(largest, piece.size);
  const CopyPiece* const there = upload(gpu, pieces.data(), pieces.size());
  const auto blocks = std::clamp<ByteCount>(ceil_div(largest, CopyPolicy::bytes_of_block), 1,
                                            CopyPolicy::most_blocks);
  const unsigned threads =
      largest <= CopyPolicy::bytes_of_few ? CopyPolicy::threads_of_small : CopyPolicy::threads;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(pieces.size()));
  copy_many_pieces<<<grid, threads, 0, gpu.stream()>>>(there);
  check_launch("copy_many_pieces");
}

void copy_by_kernel(const CopyPiece& piece, cudaStream_t stream) {
  using Policy = CopyPolicy;
  const bool is_small = piece.size <= Policy::threads_of_small * sizeof(std::uint64_t);
  const unsigned threads = is_small ? Policy::threads_of_small : Policy::threads;
  copy_pieces<<<1, threads, 0, stream>>>(CopyPieces<1>{{piece}});
  check_launch("copy_pieces");
}

void CopyList::run(cudaStream_t stream) {
  using Policy = CopyPolicy;
  for (std::size_t first = 0; first < pieces_.size(); first += Policy::pieces) {
    const std::size_t count = std::min(Policy::pieces, pieces_.size() - first);
    CopyPieces<Policy::pieces> pieces{};
    std::copy_n(pieces_.begin() + static_cast<std::ptrdiff_t>(first), count, pieces.of);
    ByteCount largest = 0;
    for (const CopyPiece& piece : pieces.of) largest = std::max(largest, piece.size);
    const auto blocks = std::min(ceil_div(largest, Policy::bytes_of_block), Policy::most_blocks);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(count));
    copy_pieces<<<grid, Policy::threads, 0, stream>>>(pieces);
    check_launch("copy_pieces");
  }
  pieces_.clear();
}

bool is_on_device(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "query the owner of memory");
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

Bytes bring(DeviceContext& gpu, Bytes bytes) {
  if (bytes.empty() || is_on_device(bytes.data())) return bytes;
  auto* const memory = gpu.take<std::byte>(bytes.size());
  start_copy(gpu, memory, bytes.data(), bytes.size());
  return {memory, bytes.size()};
}

}  // namespace cuszi::gpu
