#pragma once

#include <cstdint>

#include "core/base/hd.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// hash * size / 2^64 but for carries: a place below `size`, without the division of a remainder.
CUSZI_HD inline std::uint64_t scaled_hash(std::uint64_t hash, std::uint64_t size) {
  constexpr std::uint64_t low = 0xFFFFFFFFU;
  return (hash >> 32) * (size >> 32) + ((hash >> 32) * (size & low) >> 32) +
         ((hash & low) * (size >> 32) >> 32);
}

/// The k-th of `wanted` sampled points among `all`: a hashed one of the k-th of `wanted` equal
/// parts. Parts make sure that no region is missed and that memory is read in order; hashes, that
/// samples do not alias with rows.
CUSZI_HD inline std::uint64_t sampled_point(std::uint64_t k, std::uint64_t wanted,
                                            std::uint64_t all) {
  const auto begin_of = [&](std::uint64_t part) {
    return part * (all / wanted) + part * (all % wanted) / wanted;
  };
  const std::uint64_t begin = begin_of(k);
  return begin + scaled_hash(sample_hash(k), begin_of(k + 1) - begin);
}

}  // namespace cuszi
