#pragma once

#include <unistd.h>

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

/// Waits on non-blocking pipes. False, with errno, on failure. write_all_at() is thread-safe.
bool write_all(int fd, Bytes bytes);
bool write_all_at(int fd, ByteCount offset, Bytes bytes);

/// After a failed call: whether to retry. Waits for `events` of poll(2) on a pipe.
bool is_to_be_tried_again(int fd, short events);

}  // namespace cuszi
