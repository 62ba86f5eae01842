#include "core/base/lossless.hpp"

#include <zstd.h>

#include <string>

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

}  // namespace cuszi
