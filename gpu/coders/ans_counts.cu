#include <algorithm>

#include "gpu/coders/ans.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/tiled_ranges.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned row = outlier_token + 1;  ///< counters of a context

static_assert(sizeof(Counts) == token_count * sizeof(unsigned long long));

struct CountedPass {
  const QuantCode* codes;
  const std::uint8_t* contexts;
  std::uint32_t count;
  std::uint32_t context_count;
  unsigned long long* totals;  ///< [context][token]
};

extern __shared__ std::uint32_t token_bins[];

/// Consecutive codes and contexts, loaded as vectors where aligned.
class CodeVector {
 public:
  static constexpr std::uint32_t size = sizeof(uint4) / sizeof(QuantCode);

  __device__ CodeVector(const CountedPass& pass, std::uint32_t first, std::uint32_t count)
      : count_(count) {
    if (count == 0) return;
    const QuantCode* const codes = pass.codes + first;
    const bool are_whole = count == size;
    if (are_whole && is_aligned<uint4>(codes)) {
      const uint4 all = *reinterpret_cast<const uint4*>(codes);
      codes_[0] = all.x, codes_[1] = all.y, codes_[2] = all.z, codes_[3] = all.w;
    } else {
      fill(codes, codes_);
    }
    if (pass.contexts == nullptr) return;
    if (are_whole && is_aligned<uint2>(pass.contexts + first)) {
      const uint2 all = *reinterpret_cast<const uint2*>(pass.contexts + first);
      contexts_[0] = all.x, contexts_[1] = all.y;
    } else {
      fill(pass.contexts + first, contexts_);
    }
  }

  /// Adds the tokens to `bins`, runs of equal ones at once.
  __device__ void count(std::uint32_t centre, std::uint32_t* bins) const {
    std::uint32_t alike = 0;
    std::uint32_t bin = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i >= count_) continue;
      const std::uint32_t code = codes_[i / 2] >> (16 * (i % 2)) & 0xFFFFU;
      const std::uint32_t context = contexts_[i / 4] >> (8 * (i % 4)) & 0xFFU;
      const std::uint32_t own = context * row + token_of(SlotKind::code, code, centre).token;
      if (own != bin && alike != 0) {
        atomicAdd(bins + bin, alike);
        alike = 0;
      }
      bin = own;
      ++alike;
    }
    if (alike != 0) atomicAdd(bins + bin, alike);
  }

 private:
  template <class Vector>
  __device__ static bool is_aligned(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) % sizeof(Vector) == 0;
  }
  template <class Small, std::size_t words>
  __device__ void fill(const Small* from, std::uint32_t (&to)[words]) const {
    constexpr std::uint32_t of_word = sizeof(std::uint32_t) / sizeof(Small);
#pragma unroll
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i < count_) to[i / of_word] |= std::uint32_t{from[i]} << (32 / of_word * (i % of_word));
    }
  }

  std::uint32_t count_;
  std::uint32_t codes_[4]{};
  std::uint32_t contexts_[2]{};
};

/// Warps share as many copies of the bins as fit.
__global__ void __launch_bounds__(AnsCountPolicy::threads)
    count_tokens_of_tiles(const CountedPass* passes, TiledRanges tiles, std::uint32_t centre,
                          std::uint32_t room) {
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const CountedPass pass = passes[number];
  const std::uint32_t size = pass.context_count * row;
  const std::uint32_t copies = min(room / size, AnsCountPolicy::warps);
  for (std::uint32_t i = threadIdx.x; i < copies * size; i += AnsCountPolicy::threads)
    token_bins[i] = 0;
  __syncthreads();
  std::uint32_t* const own = token_bins + threadIdx.x / 32 % copies * size;
  const std::uint32_t first = (blockIdx.x - tiles.first_tiles[number]) * AnsCountPolicy::tile_codes;
  const std::uint32_t end = min(pass.count - first, AnsCountPolicy::tile_codes);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x * CodeVector::size; i < end;
       i += AnsCountPolicy::threads * CodeVector::size) {
    CodeVector(pass, first + i, min(end - i, CodeVector::size)).count(centre, own);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < size; i += AnsCountPolicy::threads) {
    std::uint32_t sum = 0;
    for (std::uint32_t copy = 0; copy < copies; ++copy) sum += token_bins[copy * size + i];
    if (sum != 0) atomicAdd(pass.totals + i / row * token_count + i % row, sum);
  }
}

}  // namespace

std::vector<std::vector<Counts>> count_tokens(DeviceContext& gpu,
                                              std::span<const PassSymbols> passes,
                                              std::uint32_t centre) {
  std::vector<std::uint64_t> sizes;
  std::size_t rows = 0;
  std::size_t most_contexts = 1;
  for (const PassSymbols& pass : passes) {
    sizes.push_back(pass.count);
    rows += pass.shape.contexts;
    most_contexts = std::max(most_contexts, pass.shape.contexts);
  }
  auto* const totals = gpu.take_zeroed<Counts>(rows);
  std::vector<CountedPass> counted;
  std::size_t first = 0;
  for (const PassSymbols& pass : passes) {
    counted.push_back({pass.codes, pass.contexts, static_cast<std::uint32_t>(pass.count),
                       static_cast<std::uint32_t>(pass.shape.contexts),
                       reinterpret_cast<unsigned long long*>(totals + first)});
    first += pass.shape.contexts;
  }
  CopyList uploads;
  const TiledRanges tiles = tile_ranges(gpu, sizes, AnsCountPolicy::tile_codes, uploads);
  const CountedPass* const on_device = upload(gpu, counted.data(), counted.size(), uploads);
  uploads.run(gpu.stream());
  if (tiles.tiles != 0) {
    const auto room = std::min(AnsCountPolicy::most_bins,
                               static_cast<unsigned>(most_contexts * row) * AnsCountPolicy::warps);
    count_tokens_of_tiles<<<tiles.tiles, AnsCountPolicy::threads, room * sizeof(std::uint32_t),
                            gpu.stream()>>>(on_device, tiles, centre, room);
    check_launch("count_tokens_of_tiles");
  }
  const Counts* const found = download(gpu, totals, rows);
  gpu.sync();
  std::vector<std::vector<Counts>> result;
  first = 0;
  for (const PassSymbols& pass : passes) {
    result.emplace_back(found + first, found + first + pass.shape.contexts);
    first += pass.shape.contexts;
  }
  return result;
}

}  // namespace cuszi::gpu
