#pragma once

#include <memory>

#include "codec/files/container.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// Values in native order, slowest axis first. Sequential reads load each chunk once.
class VariableSource final : public ByteSource {
 public:
  /// `file` detects changes.
  VariableSource(std::string name, std::shared_ptr<Container> container, Variable variable,
                 std::unique_ptr<FileSource> file);

  std::string name() const override { return name_; }
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return size_; }
  void expect_unchanged() const override {
    if (file_) file_->expect_unchanged();
  }

 private:
  /// All rows lie within one index of the axes before the cut.
  void read_rows(std::uint64_t first, std::uint64_t count, MutableBytes out) const;
  std::size_t read_some(ByteCount offset, MutableBytes out) const;

  std::string name_;
  std::shared_ptr<Container> container_;
  Variable variable_;
  std::unique_ptr<FileSource> file_;
  std::size_t cut_ = 0;  ///< axis of rows
  ByteCount size_ = 0;
  ByteCount row_bytes_ = 0;
  std::uint64_t rows_ = 1;       ///< along the cut
  std::uint64_t thickness_ = 1;  ///< rows per chunk
  mutable std::uint64_t held_first_ = 0;
  mutable std::uint64_t held_rows_ = 0;
  mutable Buffer held_;
};

}  // namespace cuszi
