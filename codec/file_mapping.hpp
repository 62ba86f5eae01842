#pragma once

#include <sys/mman.h>

#include <utility>

#include "core/units.hpp"

namespace cuszi {

/// A file in the address space, to be looked at without reading. Where the file cannot be read or
/// gets shorter meanwhile, a look ends the process (see interruption.hpp).
class FileMapping {
 public:
  FileMapping() = default;

  /// Maps the first `size` bytes; none if the file cannot be mapped.
  FileMapping(int fd, ByteCount size) {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(at), size};
  }
  FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~FileMapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace cuszi
