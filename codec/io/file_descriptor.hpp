#pragma once

#include <unistd.h>

#include <mutex>
#include <utility>

#include "core/base/units.hpp"

namespace cuszi {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Waits on non-blocking pipes. False, with errno, on failure.
bool write_all(int fd, Bytes bytes);

/// Writes parts of a file from several threads. Systems let one thread at a time write to a file.
/// Copies to mapped memory run side by side, each at about half the speed.
class FileParts {
 public:
  /// Sets the file's size. If it is in memory (tmpfs), parts that meet another write are mapped
  /// from now on. Not during write_at(). Without effect if it fails.
  void set_size(int fd, ByteCount size);

  /// Thread-safe. False, with errno, on failure.
  bool write_at(int fd, ByteCount offset, Bytes bytes);

 private:
  std::mutex writing_;
  ByteCount mappable_ = 0;
};

/// After a failed call: whether to retry. Waits for `events` of poll(2) on a pipe.
bool is_to_be_tried_again(int fd, short events);

}  // namespace cuszi
