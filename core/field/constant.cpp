#include "core/field/constant.hpp"

#include <algorithm>
#include <bit>

#include "core/base/bytes.hpp"

namespace cuszi {

std::uint64_t bits_of(double value, DType dtype) {
  return with_type_of(dtype, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    return std::bit_cast<BitsOf<T>>(static_cast<T>(value));
  });
}

std::vector<std::byte> encode_constant(std::uint64_t bits, DType dtype, ByteCount least) {
  return with_type_of(dtype, [&](auto zero) {
    using Bits = BitsOf<decltype(zero)>;
    ByteWriter out;
    do out.put(static_cast<Bits>(bits));
    while (out.size() < least);
    return out.take();
  });
}

std::uint64_t decode_constant(Bytes raw, DType dtype) {
  return with_type_of(dtype, [&](auto zero) -> std::uint64_t {
    using Bits = BitsOf<decltype(zero)>;
    ByteReader in(raw, "a constant frame");
    const Bits bits = in.get<Bits>();
    while (in.remaining() != 0) {
      if (in.get<Bits>() != bits) throw ArchiveError("a constant frame has several values");
    }
    return bits;
  });
}

}  // namespace cuszi
