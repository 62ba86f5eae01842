#include "app/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace cuszi::app {

namespace {

/// The kernel reads at most this much at once.
constexpr ByteCount max_transfer = ByteCount{1} << 30;

FileDescriptor open_to_read(const std::string& path) {
  const int fd =
      is_standard_stream(path) ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw InputError(
        fmt::format("{}: cannot be opened: {}", input_name(path), std::strerror(errno)));
  return FileDescriptor(fd);
}

}  // namespace

FileSource::FileSource(const std::string& path)
    : name_(input_name(path)), file_(open_to_read(path)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) {
    throw InputError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw InputError(name_ + ": is a folder; name the files in it");
  if (!S_ISREG(status.st_mode)) return;
  const auto length = static_cast<ByteCount>(status.st_size);
  start_ = std::min(length, static_cast<ByteCount>(::lseek(file_.get(), 0, SEEK_CUR)));
  size_ = length - start_;
  ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::size_t FileSource::read(MutableBytes out) {
  std::size_t done = 0;
  while (done < out.size()) {
    std::byte* const to = out.data() + done;
    const std::size_t wanted = std::min<ByteCount>(out.size() - done, max_transfer);
    const ssize_t got =
        size_ ? ::pread(file_.get(), to, wanted, static_cast<off_t>(start_ + at_ + done))
              : ::read(file_.get(), to, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw InputError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  at_ += done;
  return done;
}

void FileSource::seek(ByteCount offset) { at_ = offset; }

std::size_t MemorySource::read(MutableBytes out) {
  const ByteCount left = bytes_.size() - std::min<ByteCount>(at_, bytes_.size());
  const std::size_t count = std::min<ByteCount>(out.size(), left);
  if (count != 0) std::memcpy(out.data(), bytes_.data() + at_, count);
  at_ += count;
  return count;
}

ByteCount discard(ByteSource& source, ByteCount count) {
  std::array<std::byte, 1 << 16> scratch{};
  ByteCount done = 0;
  while (done < count) {
    const std::size_t wanted = std::min<ByteCount>(scratch.size(), count - done);
    const std::size_t got = source.read(std::span(scratch).first(wanted));
    done += got;
    if (got < wanted) break;
  }
  return done;
}

}  // namespace cuszi::app
