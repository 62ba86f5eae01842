#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/ans.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

inline constexpr std::uint64_t ans_symbols_per_task = std::uint64_t{1} << 18;

/// The symbols (or contexts) of block `b` of a string.
template <class T>
std::span<T> block_of(std::span<T> all, std::size_t b) {
  const std::size_t first = b * block_symbols;
  return all.subspan(first, std::min<std::size_t>(block_symbols, all.size() - first));
}

/// The flag contexts of the blocks of a string of so many symbols under these contexts.
inline std::vector<std::uint8_t> block_contexts(std::span<const std::uint8_t> contexts,
                                                std::uint64_t symbols) {
  std::vector<std::uint8_t> result(ceil_div(symbols, block_symbols));
  if (contexts.empty()) return result;
  constexpr std::uint64_t blocks_per_task = ans_symbols_per_task / block_symbols;
  parallel_for(ceil_div(result.size(), blocks_per_task), [&](std::uint64_t task) {
    const std::uint64_t end = std::min<std::uint64_t>(result.size(), (task + 1) * blocks_per_task);
    for (std::uint64_t b = task * blocks_per_task; b < end; ++b) {
      std::uint32_t sum = 0;
      for (const std::uint8_t context : block_of(contexts, b)) sum += bucket_weight(context);
      result[b] = static_cast<std::uint8_t>(flag_context(sum));
    }
  });
  return result;
}

/// The symbols (or contexts) of significant blocks alone, of which there are `symbols`.
template <class T>
std::vector<T> significant_part(std::span<const T> all, std::span<const QuantCode> flags,
                                std::uint64_t symbols) {
  std::vector<T> part;
  part.reserve(symbols);
  for (std::size_t b = 0; b < flags.size() && !all.empty(); ++b) {
    if (flags[b] == quiet_flag) continue;
    const std::span<const T> block = block_of(all, b);
    part.insert(part.end(), block.begin(), block.end());
  }
  return part;
}

}  // namespace cuszi::cpu
