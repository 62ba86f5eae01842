#include "core/zfp/zfp_codec.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/launch.cuh"
#include "gpu/zfp/zfp.cuh"
#include "gpu/zfp/zfp_block.cuh"
#include "gpu/zfp/zfp_coding.cuh"

namespace cuszi::gpu {

namespace {

/// `starts`: of chunks or blocks; null at fixed rate.
struct Source {
  ZfpParams params;
  const std::uint64_t* words;
  std::uint64_t count;
  const BitCount* starts;

  using Reader = ZfpBitReader<const std::uint64_t*>;
  __device__ Reader reader_at(BitCount bit) const { return Reader(words, count, bit); }
  __device__ BitCount start_of(std::uint64_t block) const {
    return starts != nullptr ? starts[block] : block * params.max_bits;
  }
};

/// `shift`: bits of the first word that belong to others.
__global__ void align_words(const std::uint64_t* from, unsigned shift, std::uint64_t count,
                            std::uint64_t* to) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) to[i] = from[i] >> shift | from[i + 1] << (64 - shift);
}

/// Copied, because kernels read them several times.
const std::uint64_t* aligned_words(DeviceContext& gpu, Bytes stream) {
  constexpr std::uintptr_t word_bytes = sizeof(std::uint64_t);
  const auto off = reinterpret_cast<std::uintptr_t>(stream.data()) % word_bytes;
  const auto* const from = reinterpret_cast<const std::uint64_t*>(stream.data() - off);
  const std::uint64_t count = stream.size() / word_bytes;
  if (off == 0 || count == 0) return from;
  auto* const to = gpu.take<std::uint64_t>(count);
  launch_items(gpu, "align_words", count, align_words, from, 8 * off, count, to);
  return to;
}

/// A thread per chunk. Decoding verifies the blocks' ends.
template <class T, int rank>
__global__ void __launch_bounds__(ZfpPolicy<T, rank>::find_threads)
    find_blocks(const __grid_constant__ Source source, std::uint64_t chunk, std::uint64_t chunks,
                std::uint64_t blocks, BitCount* starts) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= chunks) return;
  const BitCount limit = source.starts[i + 1];
  auto in = source.reader_at(source.starts[i]);
  const std::uint64_t end = (i + 1) * chunk < blocks ? (i + 1) * chunk : blocks;
  std::uint64_t block = i * chunk;
  starts[block] = in.position();
  while (++block < end) {
    ZfpBlock<T, rank>::template pass<ZfpRuns::at_once>(source.params, in);
    starts[block] = in.position() < limit ? in.position() : limit;
  }
  if (i + 1 == chunks) starts[blocks] = limit;
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

template <class T, int rank>
__device__ StridedWords<typename ZfpBlock<T, rank>::Word> slot_of_thread() {
  using Word = typename ZfpBlock<T, rank>::Word;
  extern __shared__ std::uint64_t shared[];
  return {reinterpret_cast<Word*>(shared) + threadIdx.x, ZfpPolicy<T, rank>::threads};
}

template <class T, int rank>
__device__ void decode_block(const Source& source, Source::Reader& in, T* values) {
  using Block = ZfpBlock<T, rank>;
  constexpr int words = Block::Layout::words;
  auto slot = slot_of_thread<T, rank>();
  int exponent = 0;
  const ZfpHead head = Block::template read<ZfpRuns::at_once>(source.params, in, exponent, slot);
  typename Block::Word planes[words];
  for_each_of<words>([&](int i) { planes[i] = slot[i]; });
  Block::from_planes(source.params, head, exponent, planes, values);
}

/// By native min/max where that is exact: no NaN, and no limit is 0, whose sign it would choose.
template <int count, class T>
__device__ void bring_within(const ZfpLimits<T>& limits, const ZfpParams& params, T* values) {
  if (limits.min != 0 && limits.max != 0 && !params.is_reversible()) {
    for_each_of<count>(
        [&](int i) { values[i] = clamp_restored(values[i], limits.min, limits.max); });
  } else {
    for_each_of<count>([&](int i) { values[i] = limits(values[i]); });
  }
}

/// One block per thread, so that neighbours' writes coalesce.
template <class T, int rank>
__global__ void __launch_bounds__(ZfpPolicy<T, rank>::threads, ZfpPolicy<T, rank>::decode_blocks)
    decode_blocks(const __grid_constant__ DecodeTask<T> task) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * ZfpPolicy<T, rank>::threads + threadIdx.x;
  if (block >= task.blocks) return;
  const Source& source = task.source;
  auto in = source.reader_at(source.start_of(block));
  T values[zfp_block_values(rank)];
  decode_block<T, rank>(source, in, values);
  if (source.starts != nullptr) {
    const BitCount limit = source.starts[block + 1];
    const bool is_last = block + 1 == task.blocks;
    if (is_last ? in.position() > limit : in.position() != limit) {
      atomicOr(task.flaws, codes_leave_chunk);
    }
  }
  bring_within<zfp_block_values(rank)>(task.limits, source.params, values);
  store_block<rank>(task.grid, ZfpPlace<rank>(task.grid, block), task.aligned, values, task.values);
}

/// Sets the kernel's shared memory limit. Returns the bytes it needs.
template <class T, int rank, class Kernel>
int take_slots(const Device& device, Kernel* kernel) {
  using Layout = ZfpPlanes<T, rank>;
  constexpr int shared =
      ZfpPolicy<T, rank>::threads * Layout::words * sizeof(typename Layout::Word);
  raise_shared_limit(device, kernel);
  return shared;
}

template <class T, int rank>
void launch(DeviceContext& gpu, DecodeTask<T>& task, std::uint64_t chunk) {
  if (task.source.starts != nullptr && chunk > 1) {
    const std::uint64_t chunks = ceil_div(task.blocks, chunk);
    auto* const starts = gpu.take<BitCount>(task.blocks + 1);
    constexpr unsigned threads = ZfpPolicy<T, rank>::find_threads;
    find_blocks<T, rank><<<blocks_for(chunks, threads), threads, 0, gpu.stream()>>>(
        task.source, chunk, chunks, task.blocks, starts);
    check_launch("find_blocks");
    task.source.starts = starts;
  }
  constexpr unsigned threads = ZfpPolicy<T, rank>::threads;
  auto* const kernel = decode_blocks<T, rank>;
  const int shared = take_slots<T, rank>(gpu.device(), kernel);
  kernel<<<blocks_for(task.blocks, threads), threads, shared, gpu.stream()>>>(task);
  check_launch("decode_blocks");
}

template <class T>
struct LookTask {
  Source source;
  ZfpGrid grid;
  std::uint64_t blocks;
  const std::uint8_t* suspects;
  const T* values;
  ZfpPatches<T> patches;
};

/// Decodes and checks a block per thread.
template <class T, int rank>
__global__ void __launch_bounds__(ZfpPolicy<T, rank>::threads)
    look_at_blocks(const __grid_constant__ LookTask<T> task) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * ZfpPolicy<T, rank>::threads + threadIdx.x;
  if (block >= task.blocks || (task.suspects != nullptr && task.suspects[block] == 0)) return;
  auto in = task.source.reader_at(task.source.start_of(block));
  T decoded[zfp_block_values(rank)];
  decode_block<T, rank>(task.source, in, decoded);
  const ZfpPlace<rank> place(task.grid, block);
  zfp::for_rows<rank>(task.grid, place, [&](unsigned at, std::uint64_t offset, bool inside) {
#pragma unroll
    for (unsigned x = 0; x < 4; ++x) {
      if (!inside || x >= place.extents[0]) continue;
      task.patches.look_at(offset + x, task.values[offset + x], decoded[at + x]);
    }
  });
}

}  // namespace

template <class T>
void zfp_decode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, Bytes stream,
                const BitCount* starts, std::uint64_t chunk, const ZfpLimits<T>& limits,
                T* values) {
  const ZfpGrid grid(dims);
  DecodeTask<T> task{{params, aligned_words(gpu, stream), stream.size() / sizeof(std::uint64_t),
                      params.has_fixed_rate() ? nullptr : starts},
                     grid,
                     has_aligned_rows(grid, values),
                     grid.count(),
                     limits,
                     values,
                     gpu.flaws()};
  with_zfp_rank(grid.rank, [&](auto rank) { launch<T, rank>(gpu, task, chunk); });
}

template <class T>
void zfp_look_at(DeviceContext& gpu, const ZfpParams& params, const Dims& dims,
                 const ZfpStream& stream, const std::uint8_t* suspects, const T* values,
                 ZfpPatches<T>& patches) {
  patches.any = true;
  patches.exceptions = make_exceptions(gpu, dims.count(), true);
  const ZfpGrid grid(dims);
  const LookTask<T> task{{params, stream.words, ceil_div(stream.bits, 64), stream.starts},
                         grid,
                         grid.count(),
                         suspects,
                         values,
                         patches};
  with_zfp_rank(grid.rank, [&](auto rank) {
    constexpr unsigned threads = ZfpPolicy<T, rank>::threads;
    auto* const kernel = look_at_blocks<T, rank>;
    const int shared = take_slots<T, rank>(gpu.device(), kernel);
    kernel<<<blocks_for(task.blocks, threads), threads, shared, gpu.stream()>>>(task);
    check_launch("look_at_blocks");
  });
}

template void zfp_look_at(DeviceContext&, const ZfpParams&, const Dims&, const ZfpStream&,
                          const std::uint8_t*, const float*, ZfpPatches<float>&);
template void zfp_look_at(DeviceContext&, const ZfpParams&, const Dims&, const ZfpStream&,
                          const std::uint8_t*, const double*, ZfpPatches<double>&);
template void zfp_decode(DeviceContext&, const ZfpParams&, const Dims&, Bytes, const BitCount*,
                         std::uint64_t, const ZfpLimits<float>&, float*);
template void zfp_decode(DeviceContext&, const ZfpParams&, const Dims&, Bytes, const BitCount*,
                         std::uint64_t, const ZfpLimits<double>&, double*);

}  // namespace cuszi::gpu
