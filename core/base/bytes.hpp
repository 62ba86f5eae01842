#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/base/varint.hpp"

namespace cuszi {

static_assert(std::endian::native == std::endian::little,
              "archives are little-endian and read by copying");

/// Appends little-endian numbers to a byte string; `varint` is LEB128.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { append(std::as_bytes(std::span(&value, 1))); }

  void varint(std::uint64_t value) {
    std::array<std::byte, most_varint_bytes> coded{};
    write_varint(value, coded.data());
    append(Bytes(coded).first(varint_bytes(value)));
  }

  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  ByteCount size() const { return bytes_.size(); }
  Bytes view() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote. Reading past the end, or a varint above 64 bits, throws
/// ArchiveError naming `what`.
class ByteReader {
 public:
  ByteReader(Bytes bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      const std::uint64_t part = byte & 0x7FU;
      if ((part << shift) >> shift != part) break;
      value |= part << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    throw ArchiveError(what_ + " holds a number of more than 64 bits");
  }

  Bytes take(ByteCount size) {
    if (size > remaining()) throw ArchiveError(what_ + " is truncated");
    const Bytes part = bytes_.subspan(at_, size);
    at_ += size;
    return part;
  }

  Bytes rest() const { return bytes_.subspan(at_); }

  ByteCount position() const { return at_; }
  ByteCount remaining() const { return bytes_.size() - at_; }

  void expect_end() const {
    if (remaining() != 0) throw ArchiveError(what_ + " holds unknown bytes at its end");
  }

 private:
  Bytes bytes_;
  std::string what_;
  std::size_t at_ = 0;
};

inline constexpr ByteCount hash_block_bytes = 16 * 1024;

/// The checksum of archives: XXH64 (seed 0) of the little-endian XXH64 hashes of `bytes`' 16 KiB
/// blocks; an empty string has none. Blocks can be hashed in parallel.
std::uint64_t block_hash(Bytes bytes);

std::uint64_t combine_block_hashes(std::span<const std::uint64_t> hashes);

}  // namespace cuszi
