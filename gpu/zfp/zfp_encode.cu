#include "core/zfp/zfp_codec.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/zfp/zfp.cuh"
#include "gpu/zfp/zfp_block.cuh"
#include "gpu/zfp/zfp_coding.cuh"

namespace cuszi::gpu {

namespace {

/// A thread's slot in shared memory. Planes are read from the highest down and overwritten by the
/// block's bits; `lead` words keep writes behind reads.
template <class T, int rank>
struct Slot {
  using Layout = ZfpPlanes<T, rank>;
  static constexpr unsigned out_words =
      (ZfpType<T>::head_bits(true) + Layout::values * (ZfpType<T>::bits + 1) + 63) / 64 + 1;
  static constexpr unsigned lead = Layout::is_small ? out_words : (Layout::pieces == 1 ? 2 : 6);
  static constexpr unsigned plane_words =
      Layout::is_small ? ceil_div(Layout::values * sizeof(typename Layout::Word), 8)
                       : Layout::words;
  static constexpr unsigned words = lead + plane_words > out_words ? lead + plane_words : out_words;
};

template <class T, int rank>
struct PlanesInSlot {
  using Layout = ZfpPlanes<T, rank>;
  using Word = typename Layout::Word;
  std::uint64_t* slot;

  static constexpr unsigned stride = ZfpPolicy<T, rank>::threads;

  /// Word `i` of the layout. Pieces of a plane are adjacent, the highest plane first.
  __device__ Word& operator[](unsigned i) const {
    if constexpr (Layout::is_small) {
      constexpr unsigned per_word = 8 / sizeof(Word);
      return reinterpret_cast<Word*>(slot +
                                     (Slot<T, rank>::lead + i / per_word) * stride)[i % per_word];
    } else {
      const unsigned plane = Layout::bits - 1 - i % Layout::bits;
      return slot[(Slot<T, rank>::lead + plane * Layout::pieces + i / Layout::bits) * stride];
    }
  }
};

__device__ std::uint64_t scratch_at(std::uint64_t tile, unsigned slot_words, unsigned threads,
                                    unsigned thread) {
  return tile * slot_words * threads + thread;
}

/// Writes `bits` bits to a zeroed stream; atomic in shared words.
__device__ void put_bits(const std::uint64_t* from, unsigned stride, unsigned bits, BitCount at,
                         std::uint64_t* stream) {
  const auto shift = static_cast<unsigned>(at % 64);
  const unsigned words = (bits + 63) / 64;
  const unsigned count = (shift + bits + 63) / 64;
  std::uint64_t* const to = stream + at / 64;
  std::uint64_t before = 0;
  for (unsigned w = 0; w < count; ++w) {
    const std::uint64_t word = w < words ? from[w * stride] : 0;
    const std::uint64_t moved = (word << shift) | ((before >> 1) >> (63 - shift));
    before = word;
    if (w == 0 || w + 1 == count) {
      atomicOr(reinterpret_cast<unsigned long long*>(to + w), moved);
    } else {
      to[w] = moved;
    }
  }
}

template <class T>
struct EncodeTask {
  ZfpParams params;
  ZfpGrid grid;
  bool aligned;
  const T* values;
  std::uint64_t blocks;
  std::uint64_t* stream;  ///< zeroed; set at fixed rate
  std::uint64_t* scratch;
  std::uint32_t* unpadded;  ///< bits in each slot
  ZfpCheck<T> check;
  std::uint8_t* suspects;  ///< blocks with uncertain points
  std::uint32_t* any;
};

template <int rank, class T>
__device__ bool is_certain(const EncodeTask<T>& task, const ZfpPlace<rank>& place,
                           const T* decoded) {
  bool certain = true;
  if (task.aligned && place.is_whole) {
    for_whole_rows<rank>(task.grid, place, [&](unsigned at, std::uint64_t offset) {
      T row[4];
      load_row(task.values + offset, row);
#pragma unroll
      for (unsigned x = 0; x < 4; ++x) certain &= task.check.is_certain(row[x], decoded[at + x]);
    });
    return certain;
  }
  zfp::for_rows<rank>(task.grid, place, [&](unsigned at, std::uint64_t offset, bool inside) {
#pragma unroll
    for (unsigned x = 0; x < 4; ++x) {
      if (!inside || x >= place.extents[0]) continue;
      certain &= task.check.is_certain(task.values[offset + x], decoded[at + x]);
    }
  });
  return certain;
}

/// One block per thread.
template <class T, int rank, bool checks>
__global__ void __launch_bounds__(ZfpPolicy<T, rank>::threads, ZfpPolicy<T, rank>::encode_blocks)
    encode_blocks(const __grid_constant__ EncodeTask<T> task) {
  using Block = ZfpBlock<T, rank>;
  constexpr unsigned threads = ZfpPolicy<T, rank>::threads;
  extern __shared__ std::uint64_t shared[];
  const std::uint64_t block = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (block >= task.blocks) return;

  ZfpHead head;
  const PlanesInSlot<T, rank> slot{shared + threadIdx.x};
  {
    const ZfpPlace<rank> place(task.grid, block);
    T values[Block::values];
    load_block<rank>(task.grid, place, task.aligned, task.values, values);
    typename Block::Word planes[Block::Layout::words];
    if constexpr (checks) {
      head = Block::to_planes(task.params, values, planes, [&](const T* decoded) {
        if (is_certain<rank>(task, place, decoded)) return;
        task.suspects[block] = 1;
        *task.any = 1;
      });
    } else {
      head = Block::to_planes(task.params, values, planes);
    }
    for_each_of<Block::Layout::words>([&](int i) { slot[i] = planes[i]; });
  }
  const StridedWords<std::uint64_t> words{shared + threadIdx.x, threads};
  ZfpBitWriter<StridedWords<std::uint64_t>> out(words);
  Block::template write_unpadded<ZfpRuns::at_once>(task.params, head, slot, out);
  out.flush();

  const auto bits = static_cast<std::uint32_t>(out.position());
  if (task.stream != nullptr) {
    put_bits(words.first, threads, bits, block * task.params.max_bits, task.stream);
    return;
  }
  task.unpadded[block] = bits;
  std::uint64_t* const to =
      task.scratch + scratch_at(blockIdx.x, Slot<T, rank>::words, threads, threadIdx.x);
  for (unsigned w = 0; w < (bits + 63) / 64; ++w) to[w * threads] = words[w];
}

__device__ std::uint32_t padded(const std::uint32_t* unpadded, std::uint64_t block,
                                std::uint64_t blocks, std::uint32_t min_bits) {
  if (block >= blocks) return 0;
  const std::uint32_t bits = unpadded[block];
  return bits > min_bits ? bits : min_bits;
}

/// One warp per tile of `threads` blocks.
__global__ void sum_tiles(const std::uint32_t* unpadded, std::uint64_t blocks,
                          std::uint32_t min_bits, unsigned threads, std::uint64_t tiles,
                          std::uint32_t* sums) {
  const std::uint64_t tile = ItemPolicy::first() / 32;
  if (tile >= tiles) return;
  std::uint32_t sum = 0;
  for (unsigned i = threadIdx.x % 32; i < threads; i += 32) {
    sum += padded(unpadded, tile * threads + i, blocks, min_bits);
  }
  sum = __reduce_add_sync(~0U, sum);
  if (threadIdx.x % 32 == 0) sums[tile] = sum;
}

struct JoinTask {
  const std::uint64_t* scratch;
  unsigned slot_words;
  const BitCount* tile_starts;
  const std::uint32_t* unpadded;
  std::uint32_t min_bits;
  std::uint64_t blocks;
  BitCount* starts;
  std::uint64_t* stream;
};

/// One block per thread.
__global__ void join_blocks(const __grid_constant__ JoinTask task) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint32_t bits = padded(task.unpadded, block, task.blocks, task.min_bits);
  const BitCount at =
      task.tile_starts[blockIdx.x] + sum_before_thread<ZfpPolicy<float, 1>::threads>(bits);
  if (block >= task.blocks) return;
  task.starts[block] = at;
  if (block + 1 == task.blocks) task.starts[task.blocks] = at + bits;
  put_bits(task.scratch + scratch_at(blockIdx.x, task.slot_words, blockDim.x, threadIdx.x),
           blockDim.x, task.unpadded[block], at, task.stream);
}

__global__ void pick_starts(const BitCount* starts, std::uint64_t blocks, std::uint32_t chunk,
                            std::uint64_t chunks, BitCount* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i <= chunks) out[i] = starts[i < chunks ? i * chunk : blocks];
}

template <class T, int rank, bool checks>
void launch(DeviceContext& gpu, EncodeTask<T>& task) {
  constexpr unsigned threads = ZfpPolicy<T, rank>::threads;
  constexpr unsigned words = Slot<T, rank>::words;
  const unsigned tiles = blocks_for(task.blocks, threads);
  if (task.stream == nullptr) {
    task.scratch = gpu.take<std::uint64_t>(std::uint64_t{tiles} * threads * words);
    task.unpadded = gpu.take<std::uint32_t>(task.blocks);
  }
  auto* const kernel = encode_blocks<T, rank, checks>;
  constexpr int shared = threads * words * 8;
  raise_shared_limit(gpu.device(), kernel);
  kernel<<<tiles, threads, shared, gpu.stream()>>>(task);
  check_launch("encode_blocks");
}

ZfpStream join(DeviceContext& gpu, JoinTask task, unsigned threads) {
  const unsigned tiles = blocks_for(task.blocks, threads);
  auto* const sums = gpu.take<std::uint32_t>(tiles);
  launch_items(gpu, "sum_tiles", std::uint64_t{tiles} * 32, sum_tiles, task.unpadded, task.blocks,
               task.min_bits, threads, tiles, sums);
  auto* const tile_starts = gpu.take<BitCount>(tiles + 1);
  exclusive_sums(gpu, sums, tiles, tile_starts);
  const BitCount& bits = *download(gpu, tile_starts + tiles, 1);
  gpu.sync();

  task.tile_starts = tile_starts;
  task.starts = gpu.take<BitCount>(task.blocks + 1);
  task.stream = gpu.take_zeroed<std::uint64_t>(ceil_div(bits, 64));
  join_blocks<<<tiles, threads, 0, gpu.stream()>>>(task);
  check_launch("join_blocks");
  return {task.stream, bits, task.starts, task.blocks};
}

}  // namespace

template <class T>
ZfpStream zfp_encode(DeviceContext& gpu, const ZfpParams& params, const Dims& dims, const T* values,
                     ZfpPatches<T>* patches) {
  const ZfpGrid grid(dims);
  EncodeTask<T> task{};
  task.params = params;
  task.grid = grid;
  task.aligned = has_aligned_rows(grid, values);
  task.values = values;
  task.blocks = grid.count();
  const bool is_cut = zfp_cuts_blocks<T>(params, grid.rank);
  const bool checks = patches != nullptr && !is_cut;
  if (checks) {
    task.check = patches->check;
    task.suspects = gpu.take_zeroed<std::uint8_t>(task.blocks);
    task.any = gpu.take_zeroed<std::uint32_t>(1);
  }
  const BitCount fixed_bits = params.has_fixed_rate() ? task.blocks * params.max_bits : 0;
  if (fixed_bits > 0) task.stream = gpu.take_zeroed<std::uint64_t>(ceil_div(fixed_bits, 64));

  JoinTask joined{};
  unsigned threads = 0;
  with_zfp_rank(grid.rank, [&](auto rank) {
    with_flag(checks, [&](auto checking) { launch<T, rank, checking>(gpu, task); });
    threads = ZfpPolicy<T, rank>::threads;
    joined.slot_words = Slot<T, rank>::words;
  });
  const std::uint32_t* const any = checks ? download(gpu, task.any, 1) : nullptr;
  ZfpStream stream{task.stream, fixed_bits, nullptr, task.blocks};
  if (fixed_bits == 0) {
    joined.scratch = task.scratch;
    joined.unpadded = task.unpadded;
    joined.min_bits = params.min_bits;
    joined.blocks = task.blocks;
    stream = join(gpu, joined, threads);
  } else if (checks) {
    gpu.sync();
  }
  if (patches != nullptr && (is_cut || *any != 0)) {
    zfp_look_at(gpu, params, dims, stream, task.suspects, values, *patches);
  }
  return stream;
}

const BitCount* zfp_chunk_starts(DeviceContext& gpu, const ZfpStream& stream, std::uint32_t chunk) {
  if (chunk == 1) return stream.starts;
  const std::uint64_t chunks = ceil_div(stream.blocks, chunk);
  auto* const starts = gpu.take<BitCount>(chunks + 1);
  launch_items(gpu, "pick_starts", chunks + 1, pick_starts, stream.starts, stream.blocks, chunk,
               chunks, starts);
  return starts;
}

template ZfpStream zfp_encode(DeviceContext&, const ZfpParams&, const Dims&, const float*,
                              ZfpPatches<float>*);
template ZfpStream zfp_encode(DeviceContext&, const ZfpParams&, const Dims&, const double*,
                              ZfpPatches<double>*);

}  // namespace cuszi::gpu
