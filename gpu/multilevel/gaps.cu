#include "gpu/multilevel/gaps.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

__global__ void pack_flags(const std::uint8_t* flags, std::uint64_t count, RankedBits bits) {
  const std::uint64_t i = ItemPolicy::first();
  const unsigned word = __ballot_sync(~0U, i < count && flags[i] != 0);
  if (i % 32 == 0 && i < count) reinterpret_cast<std::uint32_t*>(bits.words)[i / 32] = word;
}

/// Ranks of the points, and the total.
__global__ void find_ranks(RankedBits bits, const std::uint64_t* points, std::uint32_t count,
                           std::uint64_t all_points, std::uint64_t* ranks) {
  const std::uint32_t i = blockIdx.x * ItemPolicy::threads + threadIdx.x;
  if (i >= count) return;
  ranks[i] = points[i] < all_points ? bits.rank(points[i]) : bits.rank_of_block[bits.blocks];
}

template <class V>
__global__ void close_gaps(RankedBits missing, std::uint64_t first, std::uint64_t end,
                           const V* by_code_position, V* closed) {
  const std::uint64_t i = first + ItemPolicy::first();
  if (i < end && !missing.test(i)) closed[i - missing.rank(i)] = by_code_position[i];
}

template <class V>
__global__ void open_gaps(RankedBits missing, std::uint64_t first, std::uint64_t end,
                          const V* closed, V* by_code_position) {
  const std::uint64_t i = first + ItemPolicy::first();
  if (i < end && !missing.test(i)) by_code_position[i] = closed[i - missing.rank(i)];
}

}  // namespace

template <class T>
Gaps::Gaps(DeviceContext& gpu, const LevelFrame<T>& frame, const RankedBits& missing) {
  if (missing.words == nullptr) return;
  const std::uint64_t points = frame.points();
  auto* const flags = gpu.take<std::uint8_t>(points);
  for (int pass = 0; pass <= frame.passes(); ++pass) begins_.push_back(frame.start(pass));
  for (int pass = 0; pass < frame.passes(); ++pass) {
    find_missing_positions(gpu, frame.view(pass), missing, flags + frame.start(pass));
  }
  missing_ = make_bits(gpu, points);
  pack_flags<<<blocks_for(points, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(
      flags, points, missing_);
  check_launch("pack_flags");
  rank_bits(gpu, missing_);
  const auto count = static_cast<std::uint32_t>(begins_.size());
  auto* const ranks = gpu.take<std::uint64_t>(count);
  find_ranks<<<blocks_for(count, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(
      missing_, upload(gpu, begins_.data(), count), count, points, ranks);
  check_launch("find_ranks");
  const std::uint64_t* const on_host = download(gpu, ranks, count);
  gpu.sync();
  for (std::uint32_t i = 0; i < count; ++i) starts_.push_back(begins_[i] - on_host[i]);
}

template <class V>
void Gaps::close(DeviceContext& gpu, PassRange passes, const V* by_code_position, V* closed) const {
  const std::uint64_t first = code_position(passes.first);
  const std::uint64_t end = code_position(passes.end);
  if (first == end) return;
  close_gaps<<<blocks_for(end - first, ItemPolicy::threads), ItemPolicy::threads, 0,
               gpu.stream()>>>(missing_, first, end, by_code_position, closed);
  check_launch("close_gaps");
}

template <class V>
void Gaps::open(DeviceContext& gpu, PassRange passes, const V* closed, V* by_code_position) const {
  const std::uint64_t first = code_position(passes.first);
  const std::uint64_t end = code_position(passes.end);
  if (first == end) return;
  open_gaps<<<blocks_for(end - first, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(
      missing_, first, end, closed, by_code_position);
  check_launch("open_gaps");
}

template Gaps::Gaps(DeviceContext&, const LevelFrame<float>&, const RankedBits&);
template Gaps::Gaps(DeviceContext&, const LevelFrame<double>&, const RankedBits&);
template void Gaps::close(DeviceContext&, PassRange, const QuantCode*, QuantCode*) const;
template void Gaps::close(DeviceContext&, PassRange, const std::uint8_t*, std::uint8_t*) const;
template void Gaps::open(DeviceContext&, PassRange, const QuantCode*, QuantCode*) const;

}  // namespace cuszi::gpu
