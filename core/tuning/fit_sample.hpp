#pragma once

#include <cstdint>

#include "core/base/hd.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// About hash * size / 2^64, without a division.
CUSZI_HD inline std::uint64_t scaled_hash(std::uint64_t hash, std::uint64_t size) {
  constexpr std::uint64_t low = 0xFFFFFFFFU;
  return (hash >> 32) * (size >> 32) + ((hash >> 32) * (size & low) >> 32) +
         ((hash & low) * (size >> 32) >> 32);
}

/// A hashed point of the k-th of `wanted` equal parts. Parts cover all regions and read memory in
/// order; hashes do not alias with rows.
CUSZI_HD inline std::uint64_t sampled_point(std::uint64_t k, std::uint64_t wanted,
                                            std::uint64_t all) {
  const auto begin_of = [&](std::uint64_t part) {
    return part * (all / wanted) + part * (all % wanted) / wanted;
  };
  const std::uint64_t begin = begin_of(k);
  return begin + scaled_hash(sample_hash(k), begin_of(k + 1) - begin);
}

}  // namespace cuszi
