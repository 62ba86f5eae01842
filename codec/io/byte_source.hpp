#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "codec/io/file_descriptor.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi {

/// Random access if the size is known.
class ByteSource : public Interface {
 public:
  /// For messages.
  virtual std::string name() const = 0;

  /// Returns the bytes read; fewer only at the end. Throws InputError.
  virtual std::size_t read(MutableBytes out);

  /// Total size; nullopt for a pipe.
  virtual std::optional<ByteCount> size() const = 0;

  /// Reads from `offset`. Thread-safe. Requires a known size.
  virtual std::size_t read_at(ByteCount offset, MutableBytes out) const = 0;

  /// Whether reading in other threads pays.
  virtual bool is_read_in_threads() const { return false; }

  /// Throws InputError if the bytes have changed.
  virtual void expect_unchanged() const {}

  virtual int descriptor() const { return -1; }

  /// All bytes in host memory, if constant; else empty.
  virtual Bytes view() const { return {}; }

  /// All bytes in device memory, for its backend, if constant; else empty.
  virtual Bytes device_view() const { return {}; }

  /// Requires a known size.
  void seek(ByteCount offset) { at_ = offset; }

  /// Skips bytes; returns how many.
  ByteCount skip(ByteCount count);

 protected:
  ByteCount at_ = 0;  ///< of the next read(), if the size is known
};

/// "-" is standard input. Throws InputError.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  FileSource(FileDescriptor file, std::string name);

  std::string name() const override { return name_; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return size_; }
  bool is_read_in_threads() const override { return size_.has_value(); }
  void expect_unchanged() const override;
  int descriptor() const override { return file_.get(); }

 private:
  /// read_some(to, size, done) returns as read(2).
  template <class ReadSome>
  std::size_t read_with(MutableBytes out, const ReadSome& read_some) const;

  std::string name_;
  FileDescriptor file_;
  std::optional<ByteCount> size_;
  timespec modified_{};  ///< if the size is known
  ByteCount start_ = 0;  ///< initial position of standard input
};

/// Bytes stay valid and unchanged.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}

  std::string name() const override { return "memory"; }
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return bytes_.size(); }
  Bytes view() const override { return bytes_; }

 private:
  Bytes bytes_;
};

/// Returns the bytes read.
ByteCount discard(ByteSource& source, ByteCount count);

inline bool is_standard_stream(const std::string& path) { return path == "-"; }

/// For messages.
inline std::string input_name(const std::string& path) {
  return is_standard_stream(path) ? "standard input" : path;
}

enum class ByteOrder { little, big };

/// Converts between `order` and native order, in place.
void to_native(MutableBytes values, DType dtype, ByteOrder order);

}  // namespace cuszi
