#include <algorithm>
#include <limits>

#include "core/base/varint.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned count_blocks = 8;  ///< per multiprocessor

/// Sums over warps, because many threads share few counters.
__global__ void count_differing(const std::uint64_t* words, BitRuns runs,
                                unsigned long long* counts) {
  const std::uint64_t count = runs.count();
  unsigned own[bit_references]{};
  for (std::uint64_t i = ItemPolicy::first(); i < count; i += ItemPolicy::step()) {
    const BitRun run = runs[i];
    for (unsigned r = 0; r < bit_references; ++r) {
      own[r] += __popc(differing_bits(words, runs, run, static_cast<BitReference>(r)));
    }
  }
  for (unsigned r = 0; r < bit_references; ++r) {
    const unsigned sum = __reduce_add_sync(~0U, own[r]);
    if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(counts + r, sum);
  }
}

/// The target bits must be 0.
__device__ void put_bits(std::uint64_t* words, std::uint64_t first, unsigned count,
                         std::uint32_t bits) {
  auto* const parts = reinterpret_cast<std::uint32_t*>(words) + first / 32;
  const auto shift = static_cast<unsigned>(first % 32);
  if (shift == 0 && count == 32) {
    parts[0] = bits;
  } else if (bits != 0) {
    atomicOr(parts, bits << shift);
    if (shift + count > 32) atomicOr(parts + 1, bits >> (32 - shift));
  }
}

__global__ void write_differing(const std::uint64_t* words, BitRuns runs, BitReference reference,
                                std::uint64_t* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= runs.count()) return;
  const BitRun run = runs[i];
  put_bits(out, run.first, run.count, differing_bits(words, runs, run, reference));
}

__device__ std::uint64_t gap_before(const std::uint64_t* places, std::uint64_t i) {
  return i == 0 ? places[0] : places[i] - places[i - 1] - 1;
}

__global__ void measure_gaps(const std::uint64_t* places, std::uint64_t count,
                             std::uint32_t* sizes) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) sizes[i] = varint_bytes(gap_before(places, i));
}

__global__ void write_gaps(const std::uint64_t* places, std::uint64_t count,
                           const std::uint64_t* begins, std::byte* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) write_varint(gap_before(places, i), out + begins[i]);
}

__global__ void find_ends(const std::byte* gaps, std::uint64_t size, std::uint32_t* is_end) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < size) is_end[i] = ends_varint(gaps[i]) ? 1 : 0;
}

/// One thread per byte; the one at a varint's end writes its gap + 1. Gaps of `points` or more are
/// flaws.
__global__ void read_gaps(const std::byte* gaps, std::uint64_t size, const std::uint64_t* rank,
                          std::uint64_t points, std::uint32_t* steps, std::uint32_t* flaws) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= size || !ends_varint(gaps[i])) return;
  std::uint64_t gap = 0;
  const bool is_bad = !read_varint_before(gaps, i, gap) || gap >= points;
  if (is_bad) atomicOr(flaws, bad_places);
  steps[rank[i]] = is_bad ? 0 : static_cast<std::uint32_t>(gap + 1);
}

__global__ void set_places(const std::uint64_t* ends, std::uint64_t count, std::uint64_t points,
                           RankedBits bits, std::uint32_t* flaws) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count) return;
  const std::uint64_t end = ends[i + 1];
  if (end == 0 || end > points) {
    atomicOr(flaws, bad_places);
  } else {
    bits.set(end - 1);
  }
}

/// One thread per column of runs of a slice.
__global__ void undo_rows(const std::uint64_t* __restrict__ from, BitRuns runs,
                          std::uint64_t* __restrict__ words) {
  constexpr int in_flight = 8;
  const std::uint64_t i = ItemPolicy::first();
  if (i >= runs.in_row() * runs.slices) return;
  const std::uint64_t slice = i / runs.in_row();
  const BitRun run = runs[slice * runs.height * runs.in_row() + i % runs.in_row()];
  std::uint32_t bits = 0;
#pragma unroll in_flight
  for (std::uint64_t y = 0; y < runs.height; ++y) {
    const std::uint64_t first = run.first + y * runs.width;
    bits ^= read_bits(from, first, run.count);
    put_bits(words, first, run.count, bits);
  }
}

void launch_undo_rows(DeviceContext& gpu, const std::uint64_t* from, const BitRuns& runs,
                      std::uint64_t* words) {
  launch_items(gpu, "undo_rows", runs.in_row() * runs.slices, undo_rows, from, runs, words);
}

/// Synchronises twice.
std::vector<std::byte> gaps_of(DeviceContext& gpu, const RankedBits& bits, std::uint64_t count) {
  if (count == 0) return {};
  auto* const places = gpu.take<std::uint64_t>(count);
  for_each_bit(gpu, bits, [places] __device__(std::uint64_t point, std::uint64_t rank) {
    places[rank] = point;
  });
  auto* const sizes = gpu.take<std::uint32_t>(count);
  launch_items(gpu, "measure_gaps", count, measure_gaps, places, count, sizes);
  auto* const begins = gpu.take<std::uint64_t>(count + 1);
  exclusive_sums(gpu, sizes, count, begins);
  const std::uint64_t& size = *download(gpu, begins + count, 1);
  gpu.sync();
  auto* const written = gpu.take<std::byte>(size);
  launch_items(gpu, "write_gaps", count, write_gaps, places, count, begins, written);
  std::vector<std::byte> gaps(size);
  start_copy(gpu, gaps.data(), written, size);
  gpu.sync();
  return gaps;
}

void put_places(DeviceContext& gpu, const std::vector<std::byte>& gaps, std::uint64_t points,
                std::uint64_t* words) {
  const std::uint64_t size = gaps.size();
  if (size == 0) return;
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(gaps, ends_varint));
  const std::byte* const bytes = upload(gpu, gaps.data(), size);
  auto* const is_end = gpu.take<std::uint32_t>(size);
  launch_items(gpu, "find_ends", size, find_ends, bytes, size, is_end);
  auto* const rank = gpu.take<std::uint64_t>(size + 1);
  exclusive_sums(gpu, is_end, size, rank);
  auto* const steps = gpu.take<std::uint32_t>(count);
  std::uint32_t* const flaws = gpu.flaws();
  launch_items(gpu, "read_gaps", size, read_gaps, bytes, size, rank, points, steps, flaws);
  auto* const ends = gpu.take<std::uint64_t>(count + 1);
  exclusive_sums(gpu, steps, count, ends);
  launch_items(gpu, "set_places", count, set_places, ends, count, points, RankedBits{words}, flaws);
}

}  // namespace

PointBits coded_form(DeviceContext& gpu, const std::uint64_t* words, const Dims& dims) {
  const BitRuns runs = BitRuns::of(dims);
  auto* const differing = gpu.take_zeroed<unsigned long long>(bit_references);
  launch_in_turn(gpu, "count_differing", runs.count(), count_blocks, count_differing, words, runs,
                 differing);
  const auto* const found = download(gpu, differing, bit_references);
  gpu.sync();
  DifferingCounts counts{};
  std::copy_n(found, counts.size(), counts.begin());
  const BitForm form = choose_form(counts, dims.count());
  PointBits result;
  if (!form.has_places) {
    result.words.resize(ceil_div(dims.count(), 64));
    start_copy(gpu, result.words.data(), words, result.words.size());
    gpu.sync();
    return result;
  }
  result.reference = form.reference;
  const RankedBits bits = make_bits(gpu, dims.count());
  launch_items(gpu, "write_differing", runs.count(), write_differing, words, runs, form.reference,
               bits.words);
  rank_bits(gpu, bits);
  result.gaps = gaps_of(gpu, bits, counts.at(static_cast<std::size_t>(form.reference)));
  return result;
}

void expand_bits(DeviceContext& gpu, const PointBits& bits, const Dims& dims,
                 std::uint64_t* words) {
  constexpr std::uint64_t most_points = std::numeric_limits<std::uint32_t>::max();  // of a gap
  if (!bits.words.empty()) {
    start_copy(gpu, words, bits.words.data(), bits.words.size());
    return;
  }
  if (dims.count() > most_points) {
    const std::vector<std::uint64_t> all = all_words(bits, dims);
    start_copy(gpu, words, all.data(), all.size());
    gpu.sync();
    return;
  }
  const BitRuns runs = BitRuns::of(dims);
  const std::uint64_t size = ceil_div(dims.count(), 64);
  const auto reference = static_cast<unsigned>(bits.reference);
  const bool from_row = (reference & 1U) != 0;
  const bool from_slice = (reference & 2U) != 0;
  auto* const by_slice = from_slice ? gpu.take_zeroed<std::uint64_t>(size) : words;
  auto* const differing = from_row ? gpu.take_zeroed<std::uint64_t>(size) : by_slice;
  put_places(gpu, bits.gaps, dims.count(), differing);
  if (from_row) launch_undo_rows(gpu, differing, runs, by_slice);
  if (from_slice) launch_undo_rows(gpu, by_slice, runs.of_slices(), words);
}

}  // namespace cuszi::gpu
