#include "core/tuning/fit_sample.hpp"
#include "gpu/lossless/tables.cuh"
#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::uint32_t box_points = 4096;
constexpr unsigned points_of_thread = box_points / WordsPolicy::threads;

template <class Word>
__device__ Word warp_or(Word value) {
  for (unsigned half = 16; half != 0; half /= 2) value |= __shfl_xor_sync(~0U, value, half);
  return value;
}

template <class Word>
__global__ void __launch_bounds__(ItemPolicy::threads)
    scan_scales(const Word* bits, std::uint64_t points, ScaleScan<Word>* found) {
  ScaleScan<Word> own;
#pragma unroll 4
  for (std::uint64_t i = ItemPolicy::first(); i < points; i += ItemPolicy::step()) own.add(bits[i]);
  using Atomic = std::conditional_t<sizeof(Word) == 8, unsigned long long, unsigned>;
  __shared__ ScaleScan<Word> all;
  if (threadIdx.x == 0) all = {};
  __syncthreads();
  const auto add = [](ScaleScan<Word>& to, const ScaleScan<Word>& from) {
    atomicOr(reinterpret_cast<Atomic*>(&to.seen), static_cast<Atomic>(from.seen));
    if (from.is_odd != 0) atomicOr(&to.is_odd, 1U);
    atomicMin(&to.least, from.least);
    atomicMax(&to.end, from.end);
  };
  own.seen = warp_or(own.seen);
  own.is_odd = __any_sync(~0U, own.is_odd != 0) ? 1 : 0;
  own.least = __reduce_min_sync(~0U, own.least);
  own.end = __reduce_max_sync(~0U, own.end);
  if (threadIdx.x % 32 == 0) add(all, own);
  __syncthreads();
  if (threadIdx.x == 0) add(*found, all);
}

template <class Word>
__global__ void pick_bits(const Word* bits, std::uint64_t points, std::uint64_t wanted,
                          Word* picked) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < wanted) picked[i] = bits[sampled_point(i, wanted, points)];
}

/// The words of a box in shared memory, by a thread block.
template <class Word>
class SharedBox {
 public:
  __device__ SharedBox(const Extents3& size, Word* words) : words_(words) {
    for (int axis = 0; axis < 3; ++axis)
      size_[axis] = static_cast<std::uint32_t>(size[static_cast<std::size_t>(axis)]);
    points_ = size_[0] * size_[1] * size_[2];
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_thread; ++k) {
      const std::uint32_t i = k * WordsPolicy::threads + threadIdx.x;
      at_[k] = i % size_[2] | i / size_[2] % size_[1] << 13 | i / size_[2] / size_[1] << 20;
    }
  }

  template <class WordAt>
  __device__ void load(const WordAt& word_at) {
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_thread; ++k) {
      const std::uint32_t i = k * WordsPolicy::threads + threadIdx.x;
      if (i < points_) words_[i] = word_at(at_[k] >> 20, at_[k] >> 13 & 0x7FU, at_[k] & 0x1FFFU);
    }
    __syncthreads();
  }
  /// As core's take_differences().
  __device__ void take_differences(const Orders& orders) {
    for (int order = 0; order < orders[0]; ++order) subtract(size_[1] * size_[2], 20, 0xFFF);
    for (int order = 0; order < orders[1]; ++order) subtract(size_[2], 13, 0x7F);
    for (int order = 0; order < orders[2]; ++order) subtract(1, 0, 0x1FFF);
  }
  __device__ std::uint32_t size(int axis) const { return size_[axis]; }
  __device__ Word operator[](std::uint32_t i) const { return words_[i]; }

 private:
  __device__ void subtract(std::uint32_t stride, int shift, std::uint32_t mask) {
    Word differences[points_of_thread];
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_thread; ++k) {
      const std::uint32_t i = k * WordsPolicy::threads + threadIdx.x;
      if (i >= points_) continue;
      differences[k] = words_[i];
      if ((at_[k] >> shift & mask) != 0) differences[k] -= words_[i - stride];
    }
    __syncthreads();
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_thread; ++k) {
      const std::uint32_t i = k * WordsPolicy::threads + threadIdx.x;
      if (i < points_) words_[i] = differences[k];
    }
    __syncthreads();
  }

  Word* words_;
  std::uint32_t size_[3];
  std::uint32_t points_;
  std::uint32_t at_[points_of_thread];  ///< z, y, x
};

/// Counts the tokens of the blocks of a box, by a thread block. Counts are pairs of 16 bits.
template <int rank, class Word>
__device__ void count_blocks(const SharedBox<Word>& box, int shift, std::uint32_t* counts) {
  constexpr Extents3 extents = WordGrid::block_of_rank(rank);
  const auto block = [&](int axis) {
    return static_cast<std::uint32_t>(extents[static_cast<std::size_t>(axis)]);
  };
  std::uint32_t along[3];
  for (int axis = 0; axis < 3; ++axis)
    along[axis] = (box.size(axis) + block(axis) - 1) / block(axis);
  const std::uint32_t blocks = along[0] * along[1] * along[2];
  for (std::uint32_t first = threadIdx.x / 32 * blocks_of_warp; first < blocks;
       first += WordsPolicy::warps * blocks_of_warp) {
    const LanesOfBlock<1> own;
    const std::uint32_t i = first + own.block;
    const Extents3 at{i / along[2] / along[1] * block(0), i / along[2] % along[1] * block(1),
                      i % along[2] * block(2)};
    const bool counts_here =
        i < blocks && is_counted(at, {box.size(0), box.size(1), box.size(2)}, extents);
    Word words[points_of_lane];
    bool exists[points_of_lane];
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_lane; ++k) {
      const Point3 inside = point_of_block<rank>(own.part * points_of_lane + k);
      const auto z = static_cast<std::uint32_t>(at[0]) + inside.z;
      const auto y = static_cast<std::uint32_t>(at[1]) + inside.y;
      const auto x = static_cast<std::uint32_t>(at[2]) + inside.x;
      exists[k] = counts_here && z < box.size(0) && y < box.size(1) && x < box.size(2);
      words[k] = 0;
      if (exists[k]) words[k] = shifted_right(box[(z * box.size(1) + y) * box.size(2) + x], shift);
    }
    const std::uint32_t number = class_of_lanes(words, own);
    if (number == 0) continue;
    CUSZI_UNROLL
    for (unsigned k = 0; k < points_of_lane; ++k) {
      if (!exists[k]) continue;
      const std::uint32_t place =
          number * token_places +
          token_of_word(magnitude_of_word(words[k]), is_negative(words[k]), octave_of_class(number))
              .token;
      atomicAdd(&counts[place / 2], 1U << place % 2 * 16);
    }
  }
}

/// A thread block a box and choice.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    count_sampled(const Word* bits, std::uint64_t row, std::uint64_t plane, int rank,
                  const WordBox* boxes, const WordChoice<Word>* choices, std::uint32_t* counts) {
  constexpr std::uint32_t places = word_classes * token_places;
  __shared__ Word words[box_points];
  __shared__ std::uint32_t own[places / 2];
  for (unsigned i = threadIdx.x; i < places / 2; i += WordsPolicy::threads) own[i] = 0;
  const WordBox at = boxes[blockIdx.x];
  const WordChoice<Word> choice = choices[blockIdx.y];
  SharedBox<Word> box(at.size, words);
  const Word* const first = bits + at.first[0] * plane + at.first[1] * row + at.first[2];
  box.load([&](std::uint32_t z, std::uint32_t y, std::uint32_t x) {
    return choice.map.word_of(first[z * plane + y * row + x]);
  });
  box.take_differences(choice.orders);
  const int shift = choice.map.shift();
  if (rank == 1)
    count_blocks<1>(box, shift, own);
  else if (rank == 2)
    count_blocks<2>(box, shift, own);
  else
    count_blocks<3>(box, shift, own);
  __syncthreads();
  counts += std::uint64_t{blockIdx.y} * places;
  for (unsigned i = threadIdx.x; i < places / 2; i += WordsPolicy::threads) {
    if ((own[i] & 0xFFFFU) != 0) atomicAdd(counts + 2 * i, own[i] & 0xFFFFU);
    if (own[i] >> 16 != 0) atomicAdd(counts + 2 * i + 1, own[i] >> 16);
  }
}

/// A frame of which choices are compared.
template <class Word>
class SampledFrame {
 public:
  SampledFrame(DeviceContext& gpu, const Word* bits, const Extents3& extents)
      : gpu_(gpu), bits_(bits), extents_(extents), count_(0) {
    const std::vector<WordBox> boxes = sample_boxes(extents);
    count_ = static_cast<unsigned>(boxes.size());
    boxes_ = upload(gpu, boxes.data(), boxes.size());
  }

  std::vector<Cost> costs(std::span<const WordChoice<Word>> choices) const {
    const auto* const there = upload(gpu_, choices.data(), choices.size());
    auto* const counts =
        gpu_.take_zeroed<std::uint32_t>(choices.size() * word_classes * token_places);
    const dim3 grid(count_, static_cast<unsigned>(choices.size()));
    count_sampled<Word><<<grid, WordsPolicy::threads, 0, gpu_.stream()>>>(
        bits_, extents_[2], extents_[1] * extents_[2], rank_of(extents_), boxes_, there, counts);
    check_launch("count_sampled");
    return costs_of_counts(gpu_, counts, choices.size());
  }

 private:
  DeviceContext& gpu_;
  const Word* bits_;
  Extents3 extents_;
  unsigned count_;
  const WordBox* boxes_;
};

/// The scales of all values, scanned only where a sample leaves them open. Waits.
template <class Word>
WordScales scales_of(DeviceContext& gpu, const Word* bits, std::uint64_t points,
                     std::span<const Word> sample) {
  ScaleScan<Word> scan;
  for (const Word word : sample) scan.add(word);
  if (scan.is_settled()) return scan.scales();
  auto* const found = upload(gpu, &scan, 1);
  launch_in_turn(gpu, "scan_scales", points, WordsPolicy::scan_blocks, scan_scales<Word>, bits,
                 points, found);
  const ScaleScan<Word>* const all = download(gpu, found, 1);
  gpu.sync();
  return all->scales();
}

}  // namespace

template <class Word>
WordChoice<Word> choose_words(DeviceContext& gpu, const Word* bits, const Extents3& extents,
                              std::uint64_t integer_step) {
  const std::uint64_t points = count_of(extents);
  const std::uint64_t wanted = std::min(points, most_base_samples);
  auto* const picked = gpu.take<Word>(wanted);
  launch_items(gpu, "pick_bits", wanted, pick_bits<Word>, bits, points, wanted, picked);
  const std::span base_sample(download(gpu, picked, wanted), wanted);
  const SampledFrame<Word> frame(gpu, bits, extents);
  gpu.sync();
  WordScales scales{};
  if (integer_step == 0) scales = scales_of(gpu, bits, points, base_sample);
  scales.integer_step = integer_step;
  return cuszi::choose_words<Word>(
      extents, scales, base_sample,
      [&](std::span<const WordChoice<Word>> choices) { return frame.costs(choices); });
}

template WordChoice<std::uint32_t> choose_words(DeviceContext&, const std::uint32_t*,
                                                const Extents3&, std::uint64_t);
template WordChoice<std::uint64_t> choose_words(DeviceContext&, const std::uint64_t*,
                                                const Extents3&, std::uint64_t);

}  // namespace cuszi::gpu
