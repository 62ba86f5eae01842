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

/// The array in a file of NumPy, as the file tells of it.
struct NpyArray {
  DType dtype = DType::f32;
  ByteOrder byte_order = ByteOrder::little;
  std::vector<std::uint64_t> shape;  ///< none of a scalar
  bool is_fortran = false;           ///< the first axis is the fastest in the file
  ByteCount header_bytes = 0;        ///< in front of the values
  ByteCount bytes_behind = 0;        ///< that follow the values in the file

  std::uint64_t values() const { return product(shape); }
  ByteCount bytes() const { return values() * size_of(dtype); }
};

/// Reads the header of a file of NumPy (.npy, versions 1 to 3 of its format). Throws InputError if
/// the file is none, is cut short, or holds no values or others than f32 or f64.
NpyArray npy_array(const FileSource& file);

/// What stands in front of values in C order to make a file of NumPy.
std::string npy_header(DType dtype, ByteOrder order, const Dims& dims);

}  // namespace cuszi
