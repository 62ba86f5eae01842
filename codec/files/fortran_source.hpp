#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "codec/files/npy.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// A Fortran-order NumPy file in C order, loaded by the first read.
class FortranSource final : public ByteSource {
 public:
  FortranSource(std::unique_ptr<FileSource> file, NpyArray array);

  std::string name() const override { return file_->name(); }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return array_.bytes(); }
  void expect_unchanged() const override { file_->expect_unchanged(); }
  int descriptor() const override { return file_->descriptor(); }
  void seek(ByteCount offset) override { at_ = offset; }
  ByteCount skip(ByteCount count) override;

 private:
  std::unique_ptr<FileSource> file_;
  NpyArray array_;
  ByteCount at_ = 0;
  mutable std::once_flag once_;
  mutable Buffer values_;
};

}  // namespace cuszi
