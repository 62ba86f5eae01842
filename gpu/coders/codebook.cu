#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/coders/codebook.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Sort key of a leaf: count, then symbol. Absent symbols sort last.
struct Leaf {
  static constexpr int symbol_bits = 16;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static __device__ std::uint64_t key(std::uint64_t count, std::uint32_t symbol) {
    return count == 0 ? none : count << symbol_bits | symbol;
  }
  static __device__ std::uint64_t weight(std::uint64_t key) { return key >> symbol_bits; }
  static __device__ std::uint32_t symbol(std::uint64_t key) {
    return static_cast<std::uint32_t>(key) & ((1U << symbol_bits) - 1);
  }
};

struct CodebookTask {
  const std::uint64_t* histogram;
  std::uint32_t symbols;
  std::uint64_t* units;
  std::uint32_t* short_units;
  std::uint8_t* lengths;   ///< on the host
  BitCount* total;         ///< on the host
  std::uint32_t* longest;  ///< on the host
};

/// Huffman tree of n leaves. Inner nodes are numbered by creation, which is ascending by weight.
struct Tree {
  std::uint64_t* keys;           ///< of the sorted leaves
  std::uint64_t* inner_weights;  ///< n - 1
  std::uint64_t* merged;         ///< weights of the nodes merged in a round, n
  std::uint32_t* leaf_parents;   ///< n
  std::uint32_t* inner_parents;  ///< n - 1; later the depths
  std::uint8_t* lengths;         ///< of all symbols
};

/// Items below (or equal to) a weight, among the first `count` sorted ones.
template <bool or_equal, class WeightOf>
__device__ std::uint32_t count_below(std::uint64_t weight, std::uint32_t count,
                                     const WeightOf& weight_of) {
  std::uint32_t first = 0;
  while (first < count) {
    const std::uint32_t middle = (first + count) / 2;
    const std::uint64_t there = weight_of(middle);
    if (or_equal ? there <= weight : there < weight)
      first = middle + 1;
    else
      count = middle;
  }
  return first;
}

class TreeMaker {
 public:
  /// Weights grow by half or more per round: counts below 2^48 take at most 82.
  static constexpr unsigned most_rounds = 96;

  struct Shared {
    std::uint32_t round_ends[most_rounds];  ///< number of inner nodes
    bool leaf_left;                         ///< unpaired in this round
  };

  __device__ TreeMaker(const Tree& tree, std::uint32_t leaves, Shared& shared)
      : tree_(tree), leaves_(leaves), shared_(shared) {}

  __device__ void run() {
    while (made_ + 1 < leaves_) run_round();
    set_depths();
  }

 private:
  __device__ std::uint64_t leaf_weight(std::uint32_t leaf) const {
    return Leaf::weight(tree_.keys[leaf]);
  }

  /// The sum of the two lightest nodes left.
  __device__ std::uint64_t next_weight() const {
    constexpr std::uint64_t none = std::uint64_t{1} << 62;
    // Branchless loads overlap.
    const auto leaf = [&](std::uint32_t i) {
      const std::uint64_t weight = leaf_weight(min(i, leaves_ - 1));
      return i < leaves_ ? weight : none;
    };
    const auto inner = [&](std::uint32_t i) {
      const std::uint64_t weight = tree_.inner_weights[i < made_ ? i : 0];
      return i < made_ ? weight : none;
    };
    const std::uint64_t leaves[] = {leaf(leaf_), leaf(leaf_ + 1)};
    const std::uint64_t inners[] = {inner(inner_), inner(inner_ + 1)};
    return min(leaves[0] + inners[0], min(leaves[0] + leaves[1], inners[0] + inners[1]));
  }

  /// Usually few.
  __device__ std::uint32_t count_light_leaves(std::uint64_t limit) const {
    for (std::uint32_t count = 0;; count += blockDim.x) {
      const std::uint32_t leaf = leaf_ + count + threadIdx.x;
      const int here = __syncthreads_count(leaf < leaves_ && leaf_weight(leaf) <= limit);
      if (here != static_cast<int>(blockDim.x)) return count + static_cast<unsigned>(here);
    }
  }

  /// Merges pairwise all leaves not heavier than the next inner node with all inner nodes: they
  /// precede any node merged from them. Leaves win ties.
  __device__ void run_round() {
    const std::uint64_t limit = next_weight();
    const auto leaf_at = [&](std::uint32_t i) { return leaf_weight(leaf_ + i); };
    const auto inner_at = [&](std::uint32_t i) { return tree_.inner_weights[inner_ + i]; };
    const std::uint32_t leaves = count_light_leaves(limit);
    const std::uint32_t inners = made_ - inner_;
    const std::uint32_t pairs = (leaves + inners) / 2;
    const auto take = [&](std::uint32_t place, std::uint64_t weight, std::uint32_t* parent,
                          bool is_leaf) {
      tree_.merged[place] = weight;
      if (place / 2 < pairs)
        *parent = made_ + place / 2;
      else
        shared_.leaf_left = is_leaf;
    };
    for (std::uint32_t i = threadIdx.x; i < leaves; i += blockDim.x) {
      const std::uint64_t weight = leaf_at(i);
      take(i + count_below<false>(weight, inners, inner_at), weight, tree_.leaf_parents + leaf_ + i,
           true);
    }
    // Starts with the last warps, while the first handle leaves.
    for (std::uint32_t i = blockDim.x - 1 - threadIdx.x; i < inners; i += blockDim.x) {
      const std::uint64_t weight = inner_at(i);
      take(i + count_below<true>(weight, leaves, leaf_at), weight, tree_.inner_parents + inner_ + i,
           false);
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < pairs; i += blockDim.x)
      tree_.inner_weights[made_ + i] = tree_.merged[2 * i] + tree_.merged[2 * i + 1];
    const bool odd = (leaves + inners) % 2 != 0;
    const bool leaf_left = odd && shared_.leaf_left;
    leaf_ += leaves - (leaf_left ? 1 : 0);
    inner_ += inners - (odd && !leaf_left ? 1 : 0);
    made_ += pairs;
    if (threadIdx.x == 0) shared_.round_ends[rounds_] = made_;
    ++rounds_;
    __syncthreads();
  }

  /// By rounds from the root: parents are of later rounds.
  __device__ void set_depths() {
    std::uint32_t* const depths = tree_.inner_parents;
    if (threadIdx.x == 0) depths[leaves_ - 2] = 0;
    __syncthreads();
    for (unsigned round = rounds_ - 1; round-- > 0;) {
      const std::uint32_t first = round == 0 ? 0 : shared_.round_ends[round - 1];
      const std::uint32_t end = shared_.round_ends[round];
      for (std::uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
        depths[i] = depths[depths[i]] + 1;
      __syncthreads();
    }
    for (std::uint32_t i = threadIdx.x; i < leaves_; i += blockDim.x) {
      tree_.lengths[Leaf::symbol(tree_.keys[i])] =
          static_cast<std::uint8_t>(depths[tree_.leaf_parents[i]] + 1);
    }
    __syncthreads();
  }

  const Tree& tree_;
  std::uint32_t leaves_;
  Shared& shared_;
  std::uint32_t leaf_ = 0;   ///< lightest without parent
  std::uint32_t inner_ = 0;  ///< lightest without parent
  std::uint32_t made_ = 0;
  unsigned rounds_ = 0;
};

template <unsigned threads>
class CodeMaker {
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned lengths = 64;  ///< distinguished ones

 public:
  struct Shared {
    std::uint32_t count[lengths];
    std::uint64_t first_code[lengths];
    std::uint32_t next[lengths];  ///< rank
    std::uint32_t of_warp[warps][lengths];
    unsigned long long total;
    std::uint32_t longest;
  };

  __device__ CodeMaker(const CodebookTask& task, const std::uint8_t* of_symbols, Shared& shared)
      : task_(task), of_symbols_(of_symbols), shared_(shared) {}

  __device__ void run() {
    count_lengths();
    if (threadIdx.x == 0) {
      set_first_codes();
      *task_.total = shared_.total;
      *task_.longest = shared_.longest;
    }
    __syncthreads();
    if (shared_.longest > max_code_length) return;
    for (std::uint32_t first = 0; first < task_.symbols; first += threads)
      put_codes(first + threadIdx.x);
  }

 private:
  __device__ unsigned length_of(std::uint32_t symbol) const {
    return symbol < task_.symbols ? of_symbols_[symbol] : 0;
  }

  __device__ void count_lengths() {
    for (unsigned i = threadIdx.x; i < lengths; i += threads) {
      shared_.count[i] = 0;
      shared_.next[i] = 0;
    }
    if (threadIdx.x == 0) {
      shared_.total = 0;
      shared_.longest = 0;
    }
    __syncthreads();
    std::uint64_t total = 0;
    std::uint32_t longest = 0;
    for (std::uint32_t symbol = threadIdx.x; symbol < task_.symbols; symbol += threads) {
      const unsigned length = length_of(symbol);
      task_.lengths[symbol] = static_cast<std::uint8_t>(length);
      if (length == 0) continue;
      total += task_.histogram[symbol] * length;
      longest = max(longest, length);
      atomicAdd(shared_.count + min(length, lengths - 1), 1U);
    }
    if (total != 0) atomicAdd(&shared_.total, total);
    atomicMax(&shared_.longest, longest);
    __syncthreads();
  }

  __device__ void set_first_codes() {
    std::uint64_t code = 0;
    for (unsigned length = 1; length <= max_code_length; ++length) {
      code = (code + (length == 1 ? 0 : shared_.count[length - 1])) << 1;
      shared_.first_code[length] = code;
    }
  }

  /// Codewords of `threads` consecutive symbols. Those of one length are ranked by symbol.
  __device__ void put_codes(std::uint32_t symbol) {
    const unsigned warp = threadIdx.x / 32;
    const unsigned length = length_of(symbol);
    for (unsigned i = threadIdx.x; i < warps * lengths; i += threads)
      shared_.of_warp[i / lengths][i % lengths] = 0;
    __syncthreads();
    const unsigned alike = __match_any_sync(~0U, length);
    const unsigned before = alike & ((1U << threadIdx.x % 32) - 1);
    if (before == 0) shared_.of_warp[warp][length] = static_cast<unsigned>(__popc(alike));
    __syncthreads();
    if (threadIdx.x < lengths) {
      std::uint32_t sum = shared_.next[threadIdx.x];
      for (unsigned i = 0; i < warps; ++i) {
        const std::uint32_t here = shared_.of_warp[i][threadIdx.x];
        shared_.of_warp[i][threadIdx.x] = sum;
        sum += here;
      }
      shared_.next[threadIdx.x] = sum;
    }
    __syncthreads();
    if (symbol < task_.symbols) {
      const std::uint32_t rank =
          shared_.of_warp[warp][length] + static_cast<unsigned>(__popc(before));
      const std::uint64_t code = length == 0 ? 0 : shared_.first_code[length] + rank;
      const auto bits = static_cast<int>(length);
      task_.units[symbol] = DeviceCodebook::Unit::pack(code, bits);
      task_.short_units[symbol] = length == 0 ? 0 : ShortUnit::pack(code, bits);
    }
    __syncthreads();
  }

  const CodebookTask& task_;
  const std::uint8_t* of_symbols_;
  Shared& shared_;
};

/// Batcher's bitonic sort; `count` must be a power of two.
__device__ void sort_keys(std::uint64_t* keys, std::uint32_t count) {
  for (std::uint32_t size = 2; size <= count; size *= 2) {
    for (std::uint32_t distance = size / 2; distance > 0; distance /= 2) {
      for (std::uint32_t i = threadIdx.x; i < count / 2; i += blockDim.x) {
        const std::uint32_t low = 2 * i - i % distance;
        const std::uint32_t high = low + distance;
        const bool descending = (low & size) != 0;
        const std::uint64_t a = keys[low];
        const std::uint64_t b = keys[high];
        if ((a > b) != descending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
      __syncthreads();
    }
  }
}

template <unsigned threads>
__device__ void make_code(const CodebookTask& task, const Tree& tree, std::uint32_t leaves) {
  __shared__ TreeMaker::Shared tree_shared;
  __shared__ typename CodeMaker<threads>::Shared code_shared;
  for (std::uint32_t i = threadIdx.x; i < task.symbols; i += threads) tree.lengths[i] = 0;
  __syncthreads();
  if (leaves > 1)
    TreeMaker(tree, leaves, tree_shared).run();
  else if (leaves == 1 && threadIdx.x == 0)
    tree.lengths[Leaf::symbol(tree.keys[0])] = 1;
  __syncthreads();
  CodeMaker<threads>(task, tree.lengths, code_shared).run();
}

constexpr unsigned tree_bytes(std::uint32_t leaves) {
  return leaves * (3 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t) + sizeof(std::uint8_t));
}

extern __shared__ __align__(8) std::byte shared_tree[];

/// `room`: maximum leaves.
__device__ Tree make_shared_tree(std::uint32_t room) {
  auto* const keys = reinterpret_cast<std::uint64_t*>(shared_tree);
  auto* const parents = reinterpret_cast<std::uint32_t*>(keys + 3 * room);
  return {keys,    keys + room,    keys + 2 * room,
          parents, parents + room, reinterpret_cast<std::uint8_t*>(parents + 2 * room)};
}

/// One thread block, all in shared memory. `room` is a power of two.
__global__ void __launch_bounds__(CodebookPolicy::few_threads)
    make_small_code(const __grid_constant__ CodebookTask task, std::uint32_t room) {
  __shared__ std::uint32_t leaves;
  const Tree tree = make_shared_tree(room);
  if (threadIdx.x == 0) leaves = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < task.symbols; i += CodebookPolicy::few_threads) {
    const std::uint64_t count = task.histogram[i];
    if (count != 0) tree.keys[atomicAdd(&leaves, 1U)] = Leaf::key(count, i);
  }
  __syncthreads();
  std::uint32_t sorted = 1;
  while (sorted < leaves) sorted *= 2;
  for (std::uint32_t i = leaves + threadIdx.x; i < sorted; i += CodebookPolicy::few_threads)
    tree.keys[i] = Leaf::none;
  __syncthreads();
  sort_keys(tree.keys, sorted);
  make_code<CodebookPolicy::few_threads>(task, tree, leaves);
}

__global__ void gather_keys(const std::uint64_t* histogram, std::uint32_t symbols,
                            std::uint64_t* keys) {
  const auto symbol = static_cast<std::uint32_t>(ItemPolicy::first());
  if (symbol < symbols) keys[symbol] = Leaf::key(histogram[symbol], symbol);
}

/// One thread block, in global memory, which is mostly cached.
__global__ void __launch_bounds__(CodebookPolicy::many_threads)
    make_large_code(const __grid_constant__ CodebookTask task, const __grid_constant__ Tree tree) {
  const std::uint32_t leaves =
      count_below<false>(Leaf::none, task.symbols, [&](std::uint32_t i) { return tree.keys[i]; });
  make_code<CodebookPolicy::many_threads>(task, tree, leaves);
}

std::uint64_t* sorted_keys(DeviceContext& gpu, const std::uint64_t* histogram,
                           std::uint32_t symbols) {
  auto* const keys = gpu.take<std::uint64_t>(symbols);
  auto* const sorted = gpu.take<std::uint64_t>(symbols);
  launch_items(gpu, "gather_keys", symbols, gather_keys, histogram, symbols, keys);
  std::size_t size = 0;
  const auto sort = [&](void* room) {
    check(cub::DeviceRadixSort::SortKeys(room, size, keys, sorted, symbols, 0, 64, gpu.stream()),
          "sort symbols");
  };
  sort(nullptr);
  sort(gpu.take<std::byte>(size));
  return sorted;
}

}  // namespace

DeviceCodebook make_codebook(DeviceContext& gpu, const std::uint64_t* histogram,
                             std::uint32_t symbols) {
  CodebookTask task{histogram,
                    symbols,
                    gpu.take<std::uint64_t>(symbols),
                    gpu.take<std::uint32_t>(symbols),
                    gpu.take_pinned<std::uint8_t>(symbols),
                    gpu.take_pinned<BitCount>(1),
                    gpu.take_pinned<std::uint32_t>(1)};
  const std::uint32_t room = std::bit_ceil(symbols);
  if (symbols <= CodebookPolicy::few_symbols &&
      tree_bytes(room) <= raise_shared_limit(gpu.device(), make_small_code)) {
    make_small_code<<<1, CodebookPolicy::few_threads, tree_bytes(room), gpu.stream()>>>(task, room);
    check_launch("make_small_code");
  } else {
    const Tree tree{sorted_keys(gpu, histogram, symbols), gpu.take<std::uint64_t>(symbols),
                    gpu.take<std::uint64_t>(symbols),     gpu.take<std::uint32_t>(symbols),
                    gpu.take<std::uint32_t>(symbols),     gpu.take<std::uint8_t>(symbols)};
    make_large_code<<<1, CodebookPolicy::many_threads, 0, gpu.stream()>>>(task, tree);
    check_launch("make_large_code");
  }
  return {symbols, task.units, task.short_units, task.lengths, task.total, task.longest};
}

}  // namespace cuszi::gpu
