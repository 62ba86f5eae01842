#include "codec/io/file_descriptor.hpp"

#include <poll.h>

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

}  // namespace

bool write_all(int fd, Bytes bytes) {
  return write_with(fd, bytes, [&](const std::byte* from, std::size_t wanted) {
    return ::write(fd, from, wanted);
  });
}

bool write_all_at(int fd, ByteCount offset, Bytes bytes) {
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
