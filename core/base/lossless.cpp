#include "core/base/lossless.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"

namespace cuszi {

std::vector<std::byte> zstd_compress(Bytes bytes, int level) {
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) {
    throw DeviceError(std::string("zstd could not compress: ") + ZSTD_getErrorName(size));
  }
  packed.resize(size);
  return packed;
}

void zstd_decompress(Bytes packed, MutableBytes out) {
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) {
    throw ArchiveError(std::string("a zstd section is damaged: ") + ZSTD_getErrorName(size));
  }
  if (size != out.size()) throw ArchiveError("a zstd section is shorter than it should be");
}

namespace {

constexpr ByteCount piece_bytes = ByteCount{1} << 17;

template <class Span>
Span piece_of(Span bytes, std::size_t i) {
  const ByteCount first = i * piece_bytes;
  return bytes.subspan(first, std::min(piece_bytes, bytes.size() - first));
}

}  // namespace

std::vector<std::byte> zstd_compress_pieces(Bytes bytes, int level, const ForEach& for_each) {
  const auto count = static_cast<std::size_t>(ceil_div(bytes.size(), piece_bytes));
  if (count <= 1) return zstd_compress(bytes, level);
  std::vector<std::vector<std::byte>> pieces(count);
  for_each(count, [&](std::size_t i) { pieces[i] = zstd_compress(piece_of(bytes, i), level); });
  ByteWriter out;
  for (const auto& piece : pieces) out.put(static_cast<std::uint32_t>(piece.size()));
  for (const auto& piece : pieces) out.append(piece);
  return out.take();
}

void zstd_decompress_pieces(Bytes packed, MutableBytes out, const ForEach& for_each) {
  const auto count = static_cast<std::size_t>(ceil_div(out.size(), piece_bytes));
  if (count <= 1) return zstd_decompress(packed, out);
  ByteReader in(packed, "a zstd section");
  std::vector<ByteCount> sizes(count);
  for (ByteCount& size : sizes) size = in.get<std::uint32_t>();
  std::vector<Bytes> pieces;
  pieces.reserve(count);
  for (const ByteCount size : sizes) pieces.push_back(in.take(size));
  in.expect_end();
  for_each(count, [&](std::size_t i) { zstd_decompress(pieces[i], piece_of(out, i)); });
}

std::vector<std::byte> pack_values(Bytes values, ByteCount value_size) {
  const std::size_t count = values.size() / value_size;
  std::vector<std::byte> planes(values.size());
  for (std::size_t byte = 0; byte < value_size; ++byte) {
    for (std::size_t i = 0; i < count; ++i) {
      planes[byte * count + i] = values[i * value_size + byte];
    }
  }
  return zstd_compress(planes, ZSTD_CLEVEL_DEFAULT);
}

void unpack_values(Bytes packed, ByteCount value_size, MutableBytes values) {
  const std::size_t count = values.size() / value_size;
  std::vector<std::byte> planes(values.size());
  zstd_decompress(packed, planes);
  for (std::size_t byte = 0; byte < value_size; ++byte) {
    for (std::size_t i = 0; i < count; ++i) {
      values[i * value_size + byte] = planes[byte * count + i];
    }
  }
}

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
