#pragma once

#include <unistd.h>

#include <utility>

#include "core/base/units.hpp"

namespace cuszi {

/// Owns an open file.
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

/// Writes all of `bytes`, at the file's position or at `offset`; the latter may be done by several
/// threads at once. Waits where others have made a pipe non-blocking. False, with errno set, if
/// that fails.
bool write_all(int fd, Bytes bytes);
bool write_all_at(int fd, ByteCount offset, Bytes bytes);

/// To be called when a read or write has failed: true if it is to be tried again, because of a
/// signal or, after a wait, of a pipe that was not ready for `events` of poll(2).
bool is_to_be_tried_again(int fd, short events);

}  // namespace cuszi
