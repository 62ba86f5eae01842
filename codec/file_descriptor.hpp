#pragma once

#include <unistd.h>

#include <utility>

#include "core/units.hpp"

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
/// threads at once. False, with errno set, if that fails.
bool write_all(const FileDescriptor& file, Bytes bytes);
bool write_all_at(const FileDescriptor& file, ByteCount offset, Bytes bytes);

}  // namespace cuszi
