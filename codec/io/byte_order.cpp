#include "codec/io/byte_order.hpp"

#include <bit>
#include <cstring>

namespace cuszi {

namespace {

std::uint32_t swapped(std::uint32_t word) { return __builtin_bswap32(word); }
std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }

template <class Word>
void swap_words(MutableBytes bytes) {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof(Word));
    word = swapped(word);
    std::memcpy(bytes.data() + at, &word, sizeof(Word));
  }
}

}  // namespace

void to_native(MutableBytes values, DType dtype, ByteOrder order) {
  static_assert(std::endian::native == std::endian::little);
  if (order == ByteOrder::little) return;
  with_type_of(dtype, [&](auto zero) { swap_words<BitsOf<decltype(zero)>>(values); });
}

}  // namespace cuszi
