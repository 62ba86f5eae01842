#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi {

// LEB128: 7 bits a byte, lowest first; the high bit is set in all but the last.

inline constexpr unsigned most_varint_bytes = 10;

CUSZI_HD inline bool ends_varint(std::byte byte) {
  return (static_cast<unsigned>(byte) & 0x80U) == 0;
}

CUSZI_HD inline unsigned varint_bytes(std::uint64_t number) {
  unsigned bytes = 1;
  for (; number >= 0x80; number >>= 7) ++bytes;
  return bytes;
}

CUSZI_HD inline void write_varint(std::uint64_t number, std::byte* to) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::byte>(number | 0x80);
  *to = static_cast<std::byte>(number);
}

/// Reads, backwards, the number whose last byte is bytes[last] in a sequence of varints. Returns
/// whether it fits 64 bits.
CUSZI_HD inline bool read_varint_before(const std::byte* bytes, std::uint64_t last,
                                        std::uint64_t& number) {
  number = 0;
  for (unsigned read = 0; read < most_varint_bytes; ++read) {
    if (number >> 57 != 0) return false;
    number = number << 7 | (static_cast<unsigned>(bytes[last - read]) & 0x7FU);
    if (last == read || ends_varint(bytes[last - read - 1])) return true;
  }
  return false;
}

}  // namespace cuszi
