#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "gpu/field/sparse_list.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct SparsePolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned words = RankedBits::block_words / threads;  ///< per thread
};

__global__ void pack_counts(RankedBits bits, std::byte* counts) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= bits.blocks) return;
  put_bytes(counts + 4 * i, bits.rank_of_block[i + 1] - bits.rank_of_block[i], 4);
}

__global__ void pack_entries(SparseEntries entries, std::uint64_t count, unsigned value_bytes,
                             std::byte* positions, std::byte* values) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count) return;
  put_bytes(positions + 2 * i, entries.positions[i], 2);
  put_bytes(values + value_bytes * i, entries.values[i], value_bytes);
}

__global__ void unpack_counts(const std::byte* counts, std::uint64_t blocks, std::uint32_t* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < blocks) out[i] = static_cast<std::uint32_t>(get_bytes(counts + 4 * i, 4));
}

/// Sets bits and ranks; one thread block per block of points, with bits in shared memory.
__global__ void __launch_bounds__(SparsePolicy::threads)
    unpack_positions(const std::byte* positions, std::uint64_t count, std::uint64_t points,
                     RankedBits bits, std::uint32_t* flaws) {
  using Scan = cub::BlockScan<unsigned, SparsePolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t halves[RankedBits::block_words * 2];
  for (unsigned i = threadIdx.x; i < RankedBits::block_words * 2; i += SparsePolicy::threads)
    halves[i] = 0;
  __syncthreads();

  const std::uint64_t first = bits.rank_of_block[blockIdx.x];
  const std::uint64_t end = bits.rank_of_block[blockIdx.x + 1];
  const std::uint64_t first_point = std::uint64_t{blockIdx.x} * RankedBits::block_points;
  bool damaged = bits.rank_of_block[bits.blocks] != count;
  for (std::uint64_t i = first + threadIdx.x; i < end && !damaged; i += SparsePolicy::threads) {
    const auto position = static_cast<unsigned>(get_bytes(positions + 2 * i, 2));
    const bool ascending = i == first || get_bytes(positions + 2 * (i - 1), 2) < position;
    damaged = !ascending || first_point + position >= points;
    if (!damaged) atomicOr(halves + position / 32, 1U << (position % 32));
  }
  if (damaged) atomicOr(flaws, bad_sparse_list);
  __syncthreads();

  const unsigned word = threadIdx.x * SparsePolicy::words;
  unsigned ranks[SparsePolicy::words];
  for (unsigned i = 0; i < SparsePolicy::words; ++i) {
    const unsigned half = 2 * (word + i);
    ranks[i] = static_cast<unsigned>(__popc(halves[half]) + __popc(halves[half + 1]));
  }
  Scan(storage).ExclusiveSum(ranks, ranks);
  for (unsigned i = 0; i < SparsePolicy::words; ++i) {
    const std::uint64_t at = std::uint64_t{blockIdx.x} * RankedBits::block_words + word + i;
    const unsigned half = 2 * (word + i);
    bits.words[at] = (std::uint64_t{halves[half + 1]} << 32) | halves[half];
    bits.rank_in_block[at] = static_cast<std::uint16_t>(ranks[i]);
  }
}

SparseView unpack(DeviceContext& gpu, Bytes list, const SparseList::Layout& layout,
                  std::uint64_t points) {
  SparseView view{take_bits(gpu, points), list.data() + layout.values_at, layout.value_bytes};
  auto* const counts = gpu.take<std::uint32_t>(view.bits.blocks);
  launch_items(gpu, "unpack_counts", view.bits.blocks, unpack_counts,
               list.data() + layout.counts_at, view.bits.blocks, counts);
  exclusive_sums(gpu, counts, view.bits.blocks, view.bits.rank_of_block);
  unpack_positions<<<grid_of(view.bits.blocks), SparsePolicy::threads, 0, gpu.stream()>>>(
      list.data() + layout.positions_at, layout.count, points, view.bits, gpu.flaws());
  check_launch("unpack_positions");
  return view;
}

}  // namespace

SparseEntries take_entries(DeviceContext& gpu, const RankedBits& bits, std::uint64_t count) {
  rank_bits(gpu, bits);
  return {bits, gpu.take<std::uint16_t>(count), gpu.take<std::uint64_t>(count),
          gpu.take_zeroed<std::uint64_t>(1)};
}

Bytes encode_entries(DeviceContext& gpu, const SparseEntries& entries, std::uint64_t count) {
  const std::uint64_t& largest = *download(gpu, entries.largest, 1);
  gpu.sync();
  const std::uint8_t value_bytes = SparseList::value_bytes(largest);
  const auto head = SparseList::encode_head(count, value_bytes);
  const ByteCount positions_at = head.size() + 4 * entries.bits.blocks;
  const ByteCount values_at = positions_at + 2 * count;
  const ByteCount size = values_at + value_bytes * count;

  auto* const list = gpu.take<std::byte>(size);
  copy_pinned(gpu, list, stage(gpu, head.data(), head.size()), head.size());
  launch_items(gpu, "pack_counts", entries.bits.blocks, pack_counts, entries.bits,
               list + head.size());
  launch_items(gpu, "pack_entries", count, pack_entries, entries, count, value_bytes,
               list + positions_at, list + values_at);
  return {list, size};
}

PendingSparse::PendingSparse(DeviceContext& gpu, std::span<const Bytes> lists, std::uint64_t points)
    : gpu_(gpu), points_(points) {
  for (const Bytes list : lists) {
    const ByteCount size = std::min<ByteCount>(list.size(), SparseList::max_head_bytes);
    lists_.push_back({list, {download(gpu, list.data(), size), size}});
  }
}

bool PendingSparse::any() const {
  return std::any_of(lists_.begin(), lists_.end(),
                     [](const List& list) { return !list.bytes.empty(); });
}

std::vector<SparseView> PendingSparse::unpack() const {
  std::vector<SparseView> views;
  for (const auto& [bytes, head] : lists_) {
    views.push_back(
        bytes.empty()
            ? SparseView{}
            : gpu::unpack(gpu_, bytes, SparseList::layout(head, bytes.size(), points_), points_));
  }
  return views;
}

std::vector<SparseView> decode_sparse(DeviceContext& gpu, std::initializer_list<Bytes> lists,
                                      std::uint64_t points) {
  const PendingSparse pending(gpu, lists, points);
  if (pending.any()) gpu.sync();
  return pending.unpack();
}

}  // namespace cuszi::gpu
