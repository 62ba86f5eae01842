#include "gpu/coders/ans_gaps.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/tiled_ranges.cuh"

namespace cuszi::gpu {

namespace {

struct Table {
  const QuantCode* codes;
  std::uint32_t lead;  ///< codes from the aligned address before the first
  std::uint32_t count;
  std::uint32_t others;
  std::uint32_t larger;
  std::uint32_t first_other;  ///< over all tables
  std::uint32_t first_larger;
  GapCounts* counts;
};

struct FindTask {
  const Table* tables;
  std::uint32_t centre;
  std::uint32_t* positions;     ///< within the table
  std::uint32_t* larger_ranks;  ///< over all tables
  GapLists lists;               ///< of all tables
};

/// Others and larger codes among a lane's codes.
class LaneCodes {
 public:
  __device__ LaneCodes(const Table& table, std::uint32_t tile, std::uint32_t centre)
      : first_(std::int64_t{tile} * FindPolicy::tile_codes + threadIdx.x * FindPolicy::lane_codes -
               table.lead) {
    const std::int64_t count = table.count;
    if (first_ >= 0 && first_ + FindPolicy::lane_codes <= count) {
      const auto* const vectors = reinterpret_cast<const uint4*>(table.codes + first_);
      add(0, vectors[0], centre);
      add(FindPolicy::lane_codes / 2, vectors[1], centre);
      return;
    }
    for (unsigned i = 0; i < FindPolicy::lane_codes; ++i) {
      const std::int64_t at = first_ + i;
      if (at >= 0 && at < count) add(i, table.codes[at], centre);
    }
  }

  /// Others, and larger codes in the upper half.
  __device__ std::uint32_t counts() const {
    return static_cast<unsigned>(__popc(others_)) | static_cast<unsigned>(__popc(larger_)) << 16;
  }

  /// Writes their positions from `at` on.
  __device__ void list(const FindTask& task, uint2 at) const {
    for (std::uint32_t rest = others_; rest != 0; rest &= rest - 1, ++at.x) {
      const auto i = static_cast<std::uint32_t>(__ffs(static_cast<int>(rest)) - 1);
      task.positions[at.x] = static_cast<std::uint32_t>(first_) + i;
      if ((larger_ >> i) % 2 != 0) task.larger_ranks[at.y++] = at.x;
    }
  }

 private:
  __device__ void add(unsigned i, const uint4& eight, std::uint32_t centre) {
    const std::uint32_t zeros = centre << 16 | centre;
    const std::uint32_t words[] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (unsigned w = 0; w < 4; ++w) {
      if (words[w] == zeros) continue;
      add(i + 2 * w, static_cast<QuantCode>(words[w] & 0xFFFF), centre);
      add(i + 2 * w + 1, static_cast<QuantCode>(words[w] >> 16), centre);
    }
  }
  __device__ void add(unsigned i, QuantCode code, std::uint32_t centre) {
    if (code == centre) return;
    others_ |= 1U << i;
    if (magnitude_of(code, centre) != 1) larger_ |= 1U << i;
  }

  std::int64_t first_;  ///< position in the table
  std::uint32_t others_ = 0;
  std::uint32_t larger_ = 0;
};
static_assert(sizeof(QuantCode) * FindPolicy::lane_codes == 2 * sizeof(uint4));

__global__ void __launch_bounds__(FindPolicy::threads)
    count_others(FindTask task, TiledRanges tiles, std::uint32_t* others, std::uint32_t* larger) {
  __shared__ std::uint32_t sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const Table table = task.tables[number];
  const LaneCodes codes(table, blockIdx.x - tiles.first_tiles[number], task.centre);
  std::uint32_t counts = codes.counts();
  for (unsigned half = 16; half != 0; half /= 2) counts += __shfl_down_sync(~0U, counts, half);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums, counts & 0xFFFF);
    atomicAdd(sums + 1, counts >> 16);
  }
  __syncthreads();
  if (threadIdx.x == 0) others[blockIdx.x] = sums[0];
  if (threadIdx.x == 1) larger[blockIdx.x] = sums[1];
}

__global__ void __launch_bounds__(FindPolicy::threads)
    list_others(FindTask task, TiledRanges tiles, const std::uint64_t* others_before,
                const std::uint64_t* larger_before) {
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const Table table = task.tables[number];
  const LaneCodes codes(table, blockIdx.x - tiles.first_tiles[number], task.centre);
  const std::uint32_t before = sum_before_thread<FindPolicy::threads>(codes.counts());
  codes.list(task,
             make_uint2(static_cast<std::uint32_t>(others_before[blockIdx.x]) + (before & 0xFFFF),
                        static_cast<std::uint32_t>(larger_before[blockIdx.x]) + (before >> 16)));
}

class TokenCounts {
 public:
  __device__ explicit TokenCounts(std::uint32_t* bins) : bins_(bins) {
    for (unsigned i = threadIdx.x; i < token_count; i += FindPolicy::threads) bins_[i] = 0;
    __syncthreads();
  }
  __device__ void add(SlotKind kind, std::uint32_t value) {
    atomicAdd(bins_ + token_of(kind, value, 0).token, 1U);
  }
  __device__ void finish(Counts& total) {
    __syncthreads();
    auto* const sums = reinterpret_cast<unsigned long long*>(&total);
    for (unsigned i = threadIdx.x; i < token_count; i += FindPolicy::threads) {
      if (bins_[i] != 0) atomicAdd(sums + i, bins_[i]);
    }
  }

 private:
  std::uint32_t* bins_;
};

__device__ void count_too_long(const Table& table) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&table.counts->too_long), 1ULL);
}

__global__ void __launch_bounds__(FindPolicy::threads) make_gaps(FindTask task, TiledRanges tiles) {
  __shared__ std::uint32_t bins[token_count];
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const Table table = task.tables[number];
  const std::uint32_t first = (blockIdx.x - tiles.first_tiles[number]) * FindPolicy::tile_numbers;
  const std::uint32_t end = min(table.others, first + FindPolicy::tile_numbers);
  const std::uint32_t* const positions = task.positions + table.first_other;
  TokenCounts counts(bins);
  for (std::uint32_t i = first + threadIdx.x; i < end; i += FindPolicy::threads) {
    const std::uint32_t position = positions[i];
    const std::uint32_t zeros = i == 0 ? position : position - positions[i - 1] - 1;
    if (zeros > most_gap) {
      count_too_long(table);
      continue;
    }
    const std::uint32_t gap = gap_before(table.codes[position], zeros, task.centre);
    task.lists.gaps[table.first_other + i] = gap;
    counts.add(SlotKind::gap, gap);
  }
  counts.finish(table.counts->gaps);
}

__global__ void __launch_bounds__(FindPolicy::threads)
    make_inner_gaps(FindTask task, TiledRanges tiles) {
  __shared__ std::uint32_t bins[token_count];
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const Table table = task.tables[number];
  const std::uint32_t first = (blockIdx.x - tiles.first_tiles[number]) * FindPolicy::tile_numbers;
  const std::uint32_t end = min(table.larger, first + FindPolicy::tile_numbers);
  const std::uint32_t* const ranks = task.larger_ranks + table.first_larger;
  TokenCounts counts(bins);
  for (std::uint32_t i = first + threadIdx.x; i < end; i += FindPolicy::threads) {
    const std::uint32_t rank = ranks[i];
    const std::uint32_t ones = rank - (i == 0 ? table.first_other : ranks[i - 1] + 1);
    if (ones > most_gap) {
      count_too_long(table);
      continue;
    }
    task.lists.inner_gaps[table.first_larger + i] = ones;
    task.lists.magnitudes[table.first_larger + i] =
        magnitude_of(table.codes[task.positions[rank]], task.centre);
    counts.add(SlotKind::inner_gap, ones);
  }
  counts.finish(table.counts->inner_gaps);
}

template <class Kernel>
void run_on_tiles(DeviceContext& gpu, Kernel* kernel, const char* name, const FindTask& task,
                  const TiledRanges& tiles) {
  if (tiles.tiles == 0) return;
  kernel<<<tiles.tiles, FindPolicy::threads, 0, gpu.stream()>>>(task, tiles);
  check_launch(name);
}

}  // namespace

FoundGaps find_gaps(DeviceContext& gpu, std::span<const SparseCodes> sparse, std::uint32_t centre) {
  auto* const counts = gpu.take_zeroed<GapCounts>(sparse.size());
  std::vector<Table> tables;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> others;
  std::vector<std::uint64_t> larger;
  std::uint32_t all_others = 0;
  std::uint32_t all_larger = 0;
  for (const SparseCodes& codes : sparse) {
    const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(codes.codes) %
                                                 sizeof(uint4) / sizeof(QuantCode));
    tables.push_back({codes.codes, lead, static_cast<std::uint32_t>(codes.count),
                      static_cast<std::uint32_t>(codes.others),
                      static_cast<std::uint32_t>(codes.larger), all_others, all_larger,
                      counts + tables.size()});
    sizes.push_back(codes.others == 0 ? 0 : codes.count + lead);
    others.push_back(codes.others);
    larger.push_back(codes.larger);
    all_others += tables.back().others;
    all_larger += tables.back().larger;
  }
  CopyList uploads;
  const FindTask task{upload(gpu, tables.data(), tables.size(), uploads),
                      centre,
                      gpu.take<std::uint32_t>(all_others),
                      gpu.take<std::uint32_t>(all_larger),
                      {gpu.take<std::uint32_t>(all_others), gpu.take<std::uint32_t>(all_larger),
                       gpu.take<std::uint32_t>(all_larger)}};
  const TiledRanges tiles = tile_ranges(gpu, sizes, FindPolicy::tile_codes, uploads);
  const TiledRanges of_others = tile_ranges(gpu, others, FindPolicy::tile_numbers, uploads);
  const TiledRanges of_larger = tile_ranges(gpu, larger, FindPolicy::tile_numbers, uploads);
  uploads.run(gpu.stream());
  if (tiles.tiles != 0) {
    auto* const others_of_tiles = gpu.take<std::uint32_t>(tiles.tiles);
    auto* const larger_of_tiles = gpu.take<std::uint32_t>(tiles.tiles);
    auto* const others_before = gpu.take<std::uint64_t>(std::uint64_t{tiles.tiles} + 1);
    auto* const larger_before = gpu.take<std::uint64_t>(std::uint64_t{tiles.tiles} + 1);
    count_others<<<tiles.tiles, FindPolicy::threads, 0, gpu.stream()>>>(
        task, tiles, others_of_tiles, larger_of_tiles);
    check_launch("count_others");
    exclusive_sums(gpu, others_of_tiles, tiles.tiles, others_before);
    exclusive_sums(gpu, larger_of_tiles, tiles.tiles, larger_before);
    list_others<<<tiles.tiles, FindPolicy::threads, 0, gpu.stream()>>>(task, tiles, others_before,
                                                                       larger_before);
    check_launch("list_others");
    run_on_tiles(gpu, make_gaps, "make_gaps", task, of_others);
    run_on_tiles(gpu, make_inner_gaps, "make_inner_gaps", task, of_larger);
  }
  FoundGaps found{{}, download(gpu, counts, sparse.size())};
  for (const Table& table : tables) {
    found.lists.push_back({task.lists.gaps + table.first_other,
                           task.lists.inner_gaps + table.first_larger,
                           task.lists.magnitudes + table.first_larger});
  }
  return found;
}

}  // namespace cuszi::gpu
