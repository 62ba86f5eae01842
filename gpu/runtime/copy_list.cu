#include <algorithm>

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/copy_list.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned copy_threads = 256;
constexpr std::size_t pieces_of_launch = 64;  ///< that fit into its arguments

template <std::size_t count>
struct CopyPieces {
  CopyPiece of[count];
};

/// By 8 bytes at a time where both sides are aligned; a row of thread blocks per piece.
template <std::size_t count>
__global__ void __launch_bounds__(copy_threads)
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

}  // namespace

void copy_by_kernel(const CopyPiece& piece, cudaStream_t stream) {
  const unsigned threads = piece.size <= 32 * sizeof(std::uint64_t) ? 32 : copy_threads;
  copy_pieces<<<1, threads, 0, stream>>>(CopyPieces<1>{{piece}});
  check_launch("copy_pieces");
}

void CopyList::run(cudaStream_t stream) {
  constexpr ByteCount bytes_of_block = 4096;
  constexpr ByteCount most_blocks = 64;
  for (std::size_t first = 0; first < pieces_.size(); first += pieces_of_launch) {
    const std::size_t count = std::min(pieces_of_launch, pieces_.size() - first);
    CopyPieces<pieces_of_launch> pieces{};
    std::copy_n(pieces_.begin() + static_cast<std::ptrdiff_t>(first), count, pieces.of);
    ByteCount largest = 0;
    for (const CopyPiece& piece : pieces.of) largest = std::max(largest, piece.size);
    const ByteCount blocks = std::min(ceil_div(largest, bytes_of_block), most_blocks);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(count));
    copy_pieces<<<grid, copy_threads, 0, stream>>>(pieces);
    check_launch("copy_pieces");
  }
  pieces_.clear();
}

}  // namespace cuszi::gpu
