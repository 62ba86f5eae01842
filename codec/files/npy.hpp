#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codec/files/container.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/growing_memory.hpp"

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

/// Parses a header of version 1 to 3. Throws InputError on damage and for types that are not
/// stored ones.
NpyArray npy_array(const FileSource& file);

/// Header of an array in C order.
std::string npy_header(DType dtype, ByteOrder order, const Dims& dims);

/// A Fortran-order NumPy file in C order, loaded by the first read.
class FortranSource final : public ByteSource {
 public:
  FortranSource(std::unique_ptr<FileSource> file, NpyArray array);

  std::string name() const override { return file_->name(); }
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return array_.bytes(); }
  void expect_unchanged() const override { file_->expect_unchanged(); }
  int descriptor() const override { return file_->descriptor(); }

 private:
  std::unique_ptr<FileSource> file_;
  NpyArray array_;
  mutable std::once_flag once_;
  mutable Buffer values_;
};

}  // namespace cuszi
