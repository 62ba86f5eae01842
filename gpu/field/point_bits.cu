#include "gpu/field/point_bits.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned count_blocks = 8;  ///< of a multiprocessor

/// Sums over warps first: there are few counts and many runs.
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

/// Writes `count` bits from `first` on; those in place are 0.
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

__global__ void set_places(const std::uint64_t* places, std::uint64_t count, RankedBits bits) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) bits.set(places[i]);
}

/// A thread for the same run of all rows of a slice.
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
  result.places.resize(counts.at(static_cast<std::size_t>(form.reference)));
  const RankedBits bits = make_bits(gpu, dims.count());
  launch_items(gpu, "write_differing", runs.count(), write_differing, words, runs, form.reference,
               bits.words);
  rank_bits(gpu, bits);
  auto* const places = gpu.take<std::uint64_t>(result.places.size());
  for_each_bit(gpu, bits, [places] __device__(std::uint64_t point, std::uint64_t rank) {
    places[rank] = point;
  });
  start_copy(gpu, result.places.data(), places, result.places.size());
  gpu.sync();
  return result;
}

void expand_bits(DeviceContext& gpu, const PointBits& bits, const Dims& dims,
                 std::uint64_t* words) {
  if (!bits.words.empty()) {
    start_copy(gpu, words, bits.words.data(), bits.words.size());
    return;
  }
  const BitRuns runs = BitRuns::of(dims);
  const std::uint64_t size = ceil_div(dims.count(), 64);
  const auto reference = static_cast<unsigned>(bits.reference);
  const bool from_row = (reference & 1U) != 0;
  const bool from_slice = (reference & 2U) != 0;
  auto* const by_slice = from_slice ? gpu.take_zeroed<std::uint64_t>(size) : words;
  auto* const differing = from_row ? gpu.take_zeroed<std::uint64_t>(size) : by_slice;
  const std::uint64_t count = bits.places.size();
  if (count != 0) {
    const std::uint64_t* const places = upload(gpu, bits.places.data(), count);
    launch_items(gpu, "set_places", count, set_places, places, count, RankedBits{differing});
  }
  if (from_row) launch_undo_rows(gpu, differing, runs, by_slice);
  if (from_slice) launch_undo_rows(gpu, by_slice, runs.of_slices(), words);
}

}  // namespace cuszi::gpu
