#include "core/base/bytes.hpp"

#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace cuszi {

std::uint64_t block_hash(Bytes bytes) {
  std::vector<std::uint64_t> hashes(ceil_div(bytes.size(), hash_block_bytes));
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const Bytes rest = bytes.subspan(i * hash_block_bytes);
    hashes[i] = XXH64(rest.data(), std::min<ByteCount>(rest.size(), hash_block_bytes), 0);
  }
  return combine_block_hashes(hashes);
}

std::uint64_t combine_block_hashes(std::span<const std::uint64_t> hashes) {
  return XXH64(hashes.data(), hashes.size_bytes(), 0);
}

}  // namespace cuszi
