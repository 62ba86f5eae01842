#include "codec/io/file_descriptor.hpp"

#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

namespace cuszi {

namespace {

/// Kernel limit per write.
constexpr ByteCount max_transfer = ByteCount{1} << 30;

/// write_some(from, size) returns as write(2).
template <class WriteSome>
bool write_with(int fd, Bytes bytes, const WriteSome& write_some) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min<ByteCount>(bytes.size(), max_transfer);
    const ssize_t done = write_some(bytes.data(), wanted);
    if (done < 0 && is_to_be_tried_again(fd, POLLOUT)) continue;
    if (done < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

/// False if the system cannot provide the memory, without a signal.
bool copy_to_mapping(int fd, ByteCount offset, Bytes bytes) {
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE of Linux 5.14
  const ByteCount before = offset % static_cast<ByteCount>(::sysconf(_SC_PAGESIZE));
  const ByteCount size = before + bytes.size();
  void* const mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                               static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED) return false;
  const bool is_there = ::madvise(mapping, size, populate_write) == 0;
  if (is_there) std::ranges::copy(bytes, static_cast<std::byte*>(mapping) + before);
  ::munmap(mapping, size);
  return is_there;
}

}  // namespace

bool write_all(int fd, Bytes bytes) {
  return write_with(fd, bytes, [&](const std::byte* from, std::size_t wanted) {
    return ::write(fd, from, wanted);
  });
}

void FileParts::set_size(int fd, ByteCount size) {
  struct statfs system {};
  const bool in_memory = ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
  if (in_memory && ::ftruncate(fd, static_cast<off_t>(size)) == 0) mappable_ = size;
}

bool FileParts::write_at(int fd, ByteCount offset, Bytes bytes) {
  std::unique_lock turn(writing_, std::try_to_lock);
  const bool may_map = !turn && offset + bytes.size() <= mappable_;
  if (may_map && copy_to_mapping(fd, offset, bytes)) return true;
  if (!turn) turn.lock();
  return write_with(fd, bytes, [&](const std::byte* from, std::size_t wanted) {
    const auto at = static_cast<off_t>(offset) + (from - bytes.data());
    return ::pwrite(fd, from, wanted, at);
  });
}

bool is_to_be_tried_again(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd waited{fd, events, 0};
  return ::poll(&waited, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace cuszi
