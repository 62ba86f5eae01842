#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "codec/io/file_descriptor.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Bytes to read one after the other; where their number is known, also from anywhere.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// The source's name in messages.
  virtual std::string name() const = 0;

  /// Fills `out` with the next bytes. Returns how many there were: fewer only at the end. Throws
  /// InputError if they cannot be read.
  virtual std::size_t read(MutableBytes out) = 0;

  /// How many bytes there are in all; nothing for a pipe.
  virtual std::optional<ByteCount> size() const = 0;

  /// Fills `out` with the bytes from `offset` on, as read() does; for several threads at once. Only
  /// where the size is known.
  virtual std::size_t read_at(ByteCount offset, MutableBytes out) const = 0;

  /// Whether read_at() takes time that is worth a thread beside the caller's.
  virtual bool is_read_ahead() const { return false; }

  /// Throws InputError if others have changed the bytes since they began to be read.
  virtual void expect_unchanged() const {}

  /// The open file that is read, if it is one; else -1.
  virtual int descriptor() const { return -1; }

  /// All the bytes where they lie in the host's memory, if they do and others do not change them;
  /// else none.
  virtual Bytes view() const { return {}; }

  /// All the bytes where they lie in a device's memory, if they do and others do not change them;
  /// else none. Only the device's backend can read them.
  virtual Bytes device_view() const { return {}; }

  /// Goes on reading at `offset`. Only where the size is known.
  virtual void seek(ByteCount offset) = 0;

  /// Skips the next `count` bytes; reads over them where the source cannot seek. Returns how many
  /// bytes there were.
  virtual ByteCount skip(ByteCount count) = 0;
};

/// A file, or standard input for "-". Throws InputError if it cannot be opened.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  /// A file that is open, from its beginning, and what to call it.
  FileSource(FileDescriptor file, std::string name);

  std::string name() const override { return name_; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return size_; }
  bool is_read_ahead() const override { return size_.has_value(); }
  void expect_unchanged() const override;
  int descriptor() const override { return file_.get(); }
  void seek(ByteCount offset) override;
  ByteCount skip(ByteCount count) override;

 private:
  /// Fills `out` by calls of `read_some(to, size, done)`, which returns what read(2) does.
  template <class ReadSome>
  std::size_t read_with(MutableBytes out, const ReadSome& read_some) const;

  std::string name_;
  FileDescriptor file_;
  std::optional<ByteCount> size_;
  timespec modified_{};  ///< where the size is known
  ByteCount start_ = 0;  ///< standard input may have been read before
  ByteCount at_ = 0;
};

/// Bytes in memory, which must stay valid and as they are.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}

  std::string name() const override { return "memory"; }
  std::size_t read(MutableBytes out) override;
  std::size_t read_at(ByteCount offset, MutableBytes out) const override;
  std::optional<ByteCount> size() const override { return bytes_.size(); }
  Bytes view() const override { return bytes_; }
  void seek(ByteCount offset) override { at_ = offset; }
  ByteCount skip(ByteCount count) override;

 private:
  Bytes bytes_;
  ByteCount at_ = 0;
};

/// Reads `count` bytes and forgets them. Returns how many there were.
ByteCount discard(ByteSource& source, ByteCount count);

/// True for "-", which stands for standard input or output.
inline bool is_standard_stream(const std::string& path) { return path == "-"; }

/// An input's name in messages.
inline std::string input_name(const std::string& path) {
  return is_standard_stream(path) ? "standard input" : path;
}

}  // namespace cuszi
