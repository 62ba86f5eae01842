#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/files/container.hpp"
#include "codec/io/byte_order.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"

namespace cuszi {

struct NpyArray {
  DType dtype = DType::f32;
  ByteOrder byte_order = ByteOrder::little;
  std::vector<std::uint64_t> shape;  ///< empty for a scalar
  bool is_fortran = false;           ///< first axis fastest
  ByteCount header_bytes = 0;
  ByteCount bytes_behind = 0;  ///< after the values

  std::uint64_t values() const { return product(shape); }
  ByteCount bytes() const { return values() * size_of(dtype); }
};

/// Parses a header of version 1 to 3. Throws InputError on damage and for types other than f32 and
/// f64.
NpyArray npy_array(const FileSource& file);

/// Header of an array in C order.
std::string npy_header(DType dtype, ByteOrder order, const Dims& dims);

}  // namespace cuszi
