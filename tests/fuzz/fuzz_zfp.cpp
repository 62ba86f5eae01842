#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "cpu_ref/zfp/zfp.hpp"
#include "test_data/random.hpp"

namespace {

using namespace cuszi;

constexpr std::size_t choice_bytes = 32;

ZfpParams any_params(test::Random& random, int rank, std::uint32_t exponent_bits) {
  switch (random.below(4)) {
    case 0: return ZfpParams::reversible();
    case 1: return ZfpParams::precision(1 + static_cast<std::uint32_t>(random.below(64)));
    case 2: return ZfpParams::rate(1 + static_cast<double>(random.below(64)), rank, exponent_bits);
    default: return ZfpParams::accuracy(random.uniform());
  }
}

/// Decodes a stream of anything, whose chunks begin anywhere; what it holds may be refused only.
template <class T>
void decode(test::Random& random, Bytes stream) {
  std::vector<std::uint64_t> extents(1 + random.below(4));
  for (std::uint64_t& extent : extents) extent = 1 + random.below(9);
  const Dims dims = *Dims::make(extents);
  const ZfpParams params = any_params(random, dims.rank(), ZfpType<T>::exponent_bits);
  const auto chunk = static_cast<std::uint32_t>(1 + random.below(4));
  std::vector<T> values(dims.count());
  try {
    const BitCount at = random.below(3);
    std::vector<BitCount> starts{at};
    BitCount next = at;
    for (const std::uint32_t bits : cpu::zfp_walk<T>(params, dims, stream, at, chunk)) {
      next += bits;
      starts.push_back(next);
    }
    starts.pop_back();
    if (random.one_in(4)) starts[random.below(starts.size())] += random.below(70);
    cpu::zfp_decode<T>(params, dims, stream, starts, chunk, values);
  } catch (const ArchiveError&) {  // the only way in which it may fail
  }
}

}  // namespace

/// Reads the input, behind choices of a field and of parameters, as a zfp stream.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  const std::size_t choices = std::min(size, choice_bytes);
  test::Random random(input.first(choices));
  const Bytes stream = input.subspan(choices);
  switch (random.below(4)) {
    case 0: decode<float>(random, stream); break;
    case 1: decode<double>(random, stream); break;
    case 2: decode<std::int32_t>(random, stream); break;
    default: decode<std::int64_t>(random, stream);
  }
  return 0;
}
