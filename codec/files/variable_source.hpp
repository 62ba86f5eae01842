#pragma once

#include <memory>
#include <mutex>

#include "codec/files/container.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// The values of a variable of f32 or f64 as bytes, in the machine's order, slowest axis first.
/// What is stored together is read once if it is asked for in order.
class VariableSource final : public ByteSource {
 public:
  /// `file` is the container's, by which changes are noticed.
  VariableSource(std::string name, std::shared_ptr<Container> container, Variable variable,
                 std::unique_ptr<FileSource> file);

  std::string name() const override { return name_; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return size_; }
  void expect_unchanged() const override {
    if (file_) file_->expect_unchanged();
  }
  void seek(ByteCount offset) override { at_ = offset; }
  ByteCount skip(ByteCount count) override;

 private:
  /// Rows `first` to `first` + `count`, all within one index of the axes in front of the cut.
  void read_rows(std::uint64_t first, std::uint64_t count, MutableBytes out) const;
  std::size_t read_some(ByteCount offset, MutableBytes out) const;

  std::string name_;
  std::shared_ptr<Container> container_;
  Variable variable_;
  std::unique_ptr<FileSource> file_;
  std::size_t cut_ = 0;          ///< the axis that rows are counted along
  ByteCount size_ = 0;           ///< of all values
  ByteCount row_bytes_ = 0;      ///< of the values behind one index of the cut
  std::uint64_t rows_ = 1;       ///< along the cut
  std::uint64_t thickness_ = 1;  ///< rows that are read together
  ByteCount at_ = 0;
  mutable std::uint64_t held_first_ = 0;
  mutable std::uint64_t held_rows_ = 0;
  mutable Buffer held_;
};

}  // namespace cuszi
