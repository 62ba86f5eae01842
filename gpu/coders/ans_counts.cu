#include <algorithm>

#include "gpu/coders/ans.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/tiled_ranges.cuh"

namespace cuszi::gpu {

namespace {

struct AnsCountPolicy {
  static constexpr unsigned threads = 512;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned tile_codes = 1U << 16;
  static constexpr unsigned most_bins = 48 * 1024 / sizeof(std::uint32_t);  ///< in shared memory
};
constexpr unsigned row = outlier_token + 1;  ///< counts of a context in shared memory

static_assert(sizeof(Counts) == token_count * sizeof(unsigned long long));

struct CountedPass {
  const QuantCode* codes;
  const std::uint8_t* contexts;
  std::uint32_t count;
  std::uint32_t codes_of_context;  ///< that follow each other
  std::uint32_t context_count;
  unsigned long long* totals;  ///< [context][token]
};

extern __shared__ std::uint32_t token_bins[];

/// Counts the tokens of a tile whose warps have one context for all of their lanes. Most codes are
/// the centre.
__device__ void count_tile_of_blocks(const CountedPass& pass, std::uint32_t first,
                                     std::uint32_t end, std::uint32_t centre, std::uint32_t* bins) {
  static_assert(block_codes % 32 == 0 && AnsCountPolicy::tile_codes % block_codes == 0);
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll 8
  for (std::uint32_t i = threadIdx.x - lane; i < end; i += AnsCountPolicy::threads) {
    const bool on = i + lane < end;
    std::uint32_t* const own = bins + pass.contexts[(first + i) / pass.codes_of_context] * row;
    const QuantCode code = on ? pass.codes[first + i + lane] : outlier_code;
    const std::uint32_t token = token_of(SlotKind::code, code, centre).token;
    const unsigned centres = __ballot_sync(~0U, on && token == 0);
    if (on && token != 0) atomicAdd(own + token, 1U);
    if (lane == 0 && centres != 0) atomicAdd(own, static_cast<unsigned>(__popc(centres)));
  }
}

/// Warps share copies of the bins, as many as there is room for.
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
  if (pass.codes_of_context == 1) {
#pragma unroll 8
    for (std::uint32_t i = threadIdx.x; i < end; i += AnsCountPolicy::threads) {
      const std::uint32_t context = pass.contexts == nullptr ? 0 : pass.contexts[first + i];
      const Token token = token_of(SlotKind::code, pass.codes[first + i], centre);
      atomicAdd(own + context * row + token.token, 1U);
    }
  } else {
    count_tile_of_blocks(pass, first, end, centre, own);
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
                       pass.by_blocks && pass.contexts != nullptr ? std::uint32_t{block_codes} : 1,
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
