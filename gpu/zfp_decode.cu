#include "core/zfp_codec.hpp"
#include "gpu/zfp.cuh"
#include "gpu/zfp_block.cuh"

namespace cuszi::gpu {

namespace {

/// The words of 64 bits from any address on.
class StreamWords {
 public:
  explicit StreamWords(const std::byte* from)
      : words_(reinterpret_cast<const std::uint64_t*>(from - misalignment(from))),
        shift_(8 * misalignment(from)) {}

  __device__ std::uint64_t operator[](std::uint64_t i) const {
    const std::uint64_t word = words_[i];
    return shift_ == 0 ? word : word >> shift_ | words_[i + 1] << (64 - shift_);
  }

 private:
  static unsigned misalignment(const std::byte* from) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % sizeof(std::uint64_t));
  }

  const std::uint64_t* words_;
  unsigned shift_;  ///< in bits
};

/// A stream and where its chunks or blocks begin; none at fixed rate.
struct Source {
  ZfpParams params;
  StreamWords words;
  std::uint64_t count;
  const BitCount* starts;

  using Reader = ZfpBitReader<StreamWords>;
  __device__ Reader reader_at(BitCount bit) const { return Reader(words, count, bit); }
};

/// Passes over the blocks of a chunk a thread and tells where they begin.
template <class T, int rank>
__global__ void find_blocks(const __grid_constant__ Source source, std::uint64_t chunk,
                            std::uint64_t chunks, std::uint64_t blocks, BitCount* starts,
                            std::uint32_t* flaws) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= chunks) return;
  const BitCount limit = source.starts[i + 1];
  auto in = source.reader_at(source.starts[i]);
  const std::uint64_t end = (i + 1) * chunk < blocks ? (i + 1) * chunk : blocks;
  for (std::uint64_t block = i * chunk; block < end; ++block) {
    starts[block] = in.position() < limit ? in.position() : limit;
    NoPlanes none;
    int exponent = 0;
    ZfpBlock<T, rank>::read(source.params, in, exponent, none);
  }
  const bool is_last = i + 1 == chunks;
  if (is_last) starts[blocks] = limit;
  if (is_last ? in.position() > limit : in.position() != limit) {
    atomicOr(flaws, codes_leave_chunk);
  }
}

template <class T>
struct DecodeTask {
  Source source;
  ZfpGrid grid;
  bool aligned;
  std::uint64_t blocks;
  ZfpLimits<T> limits;
  T* values;
  std::uint32_t* flaws;
};

/// Decodes a block a thread; its planes wait in shared memory.
template <class T, int rank>
__global__ void __launch_bounds__(zfp_threads<rank>, sizeof(T) == 4 ? 4 : 2)
    decode_blocks(const __grid_constant__ DecodeTask<T> task) {
  using Block = ZfpBlock<T, rank>;
  using Word = typename Block::Word;
  constexpr unsigned threads = zfp_threads<rank>;
  constexpr int words = Block::Layout::words;
  extern __shared__ std::uint64_t shared[];
  const std::uint64_t block = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (block >= task.blocks) return;

  StridedWords<Word> slot{reinterpret_cast<Word*>(shared) + threadIdx.x, threads};
  for_each_of<words>([&](int i) { slot[i] = 0; });
  const Source& source = task.source;
  const bool has_starts = source.starts != nullptr;
  auto in = source.reader_at(has_starts ? source.starts[block] : block * source.params.max_bits);
  int exponent = 0;
  const ZfpHead head = Block::read(source.params, in, exponent, slot);
  if (has_starts) {
    const BitCount limit = source.starts[block + 1];
    const bool is_last = block + 1 == task.blocks;
    if (is_last ? in.position() > limit : in.position() != limit) {
      atomicOr(task.flaws, codes_leave_chunk);
    }
  }
  Word planes[words];
  for_each_of<words>([&](int i) { planes[i] = slot[i]; });
  T values[Block::values];
  Block::from_planes(source.params, head, exponent, planes, values);
  for_each_of<Block::values>([&](int i) { values[i] = task.limits(values[i]); });
  store_block<rank>(task.grid, ZfpPlace<rank>(task.grid, block), task.aligned, values, task.values);
}

template <class T, int rank>
void launch(Work& work, DecodeTask<T>& task, std::uint64_t chunk) {
  if (task.source.starts != nullptr && chunk > 1) {
    const std::uint64_t chunks = ceil_div(task.blocks, chunk);
    auto* const starts = work.take<BitCount>(task.blocks + 1);
    find_blocks<T, rank><<<blocks_for(chunks, 128), 128, 0, work.stream()>>>(
        task.source, chunk, chunks, task.blocks, starts, task.flaws);
    check_launch("find_blocks");
    task.source.starts = starts;
  }
  constexpr unsigned threads = zfp_threads<rank>;
  using Layout = ZfpPlanes<T, rank>;
  auto* const kernel = decode_blocks<T, rank>;
  constexpr int shared = threads * Layout::words * sizeof(typename Layout::Word);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
        "set aside shared memory");
  kernel<<<blocks_for(task.blocks, threads), threads, shared, work.stream()>>>(task);
  check_launch("decode_blocks");
}

}  // namespace

template <class T>
void zfp_decode(Work& work, const ZfpParams& params, const Dims& dims, Bytes stream,
                const BitCount* starts, std::uint64_t chunk, const ZfpLimits<T>& limits,
                T* values) {
  const ZfpGrid grid(dims);
  DecodeTask<T> task{{params, StreamWords(stream.data()), stream.size() / sizeof(std::uint64_t),
                      params.has_fixed_rate() ? nullptr : starts},
                     grid,
                     has_aligned_rows(grid, values),
                     grid.count(),
                     limits,
                     values,
                     work.flaws()};
  with_zfp_rank(grid.rank, [&](auto rank) { launch<T, rank>(work, task, chunk); });
}

template void zfp_decode(Work&, const ZfpParams&, const Dims&, Bytes, const BitCount*,
                         std::uint64_t, const ZfpLimits<float>&, float*);
template void zfp_decode(Work&, const ZfpParams&, const Dims&, Bytes, const BitCount*,
                         std::uint64_t, const ZfpLimits<double>&, double*);

}  // namespace cuszi::gpu
