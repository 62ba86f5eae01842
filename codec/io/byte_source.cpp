#include "codec/io/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// Kernel limit per read.
constexpr ByteCount max_transfer = ByteCount{1} << 30;

FileDescriptor open_to_read(const std::string& path) {
  const int fd =
      is_standard_stream(path) ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw InputError(
        fmt::format("{}: cannot be opened: {}", input_name(path), std::strerror(errno)));
  return FileDescriptor(fd);
}

struct stat status_of(const FileDescriptor& file, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw InputError(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
  }
  return status;
}

/// Taken after the file clock has ticked since the last change, so that any later change is
/// visible.
struct stat status_after_last_change(const FileDescriptor& file, const std::string& name) {
  constexpr long tick = 10'000'000;  // ns, the coarsest clock
  const struct stat status = status_of(file, name);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const long since =
      (now.tv_sec - status.st_mtim.tv_sec) * 1'000'000'000 + (now.tv_nsec - status.st_mtim.tv_nsec);
  if (!S_ISREG(status.st_mode) || since < 0 || since >= tick) return status;
  const timespec rest{0, tick - since};
  ::nanosleep(&rest, nullptr);
  return status_of(file, name);
}

}  // namespace

std::size_t ByteSource::read(MutableBytes out) {
  const std::size_t got = read_at(at_, out);
  at_ += got;
  return got;
}

ByteCount ByteSource::skip(ByteCount count) {
  const std::optional<ByteCount> all = size();
  if (!all) return discard(*this, count);
  const ByteCount skipped = std::min(count, *all - std::min(at_, *all));
  at_ += skipped;
  return skipped;
}

FileSource::FileSource(const std::string& path) : FileSource(open_to_read(path), input_name(path)) {
  if (!size_) return;
  start_ = std::min(*size_, static_cast<ByteCount>(::lseek(file_.get(), 0, SEEK_CUR)));
  *size_ -= start_;
}

FileSource::FileSource(FileDescriptor file, std::string name)
    : name_(std::move(name)), file_(std::move(file)) {
  const struct stat status = status_after_last_change(file_, name_);
  if (S_ISDIR(status.st_mode)) throw InputError(name_ + ": is a folder; name the files in it");
  if (!S_ISREG(status.st_mode)) return;
  size_ = static_cast<ByteCount>(status.st_size);
  modified_ = status.st_mtim;
  ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

template <class ReadSome>
std::size_t FileSource::read_with(MutableBytes out, const ReadSome& read_some) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t wanted = std::min<ByteCount>(out.size() - done, max_transfer);
    const ssize_t got = read_some(out.data() + done, wanted, done);
    if (got < 0 && is_to_be_tried_again(file_.get(), POLLIN)) continue;
    if (got < 0) {
      throw InputError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t FileSource::read(MutableBytes out) {
  if (size_) return ByteSource::read(out);
  return read_with(out, [&](std::byte* to, std::size_t wanted, std::size_t /*done*/) {
    return ::read(file_.get(), to, wanted);
  });
}

std::size_t FileSource::read_at(ByteCount offset, MutableBytes out) const {
  return read_with(out, [&](std::byte* to, std::size_t wanted, std::size_t done) {
    return ::pread(file_.get(), to, wanted, static_cast<off_t>(start_ + offset + done));
  });
}

void FileSource::expect_unchanged() const {
  if (!size_) return;
  const struct stat status = status_of(file_, name_);
  const bool same = static_cast<ByteCount>(status.st_size) == start_ + *size_ &&
                    status.st_mtim.tv_sec == modified_.tv_sec &&
                    status.st_mtim.tv_nsec == modified_.tv_nsec;
  if (!same) throw InputError(name_ + ": was changed while it was read; wait until it is written");
}

std::size_t MemorySource::read_at(ByteCount offset, MutableBytes out) const {
  const ByteCount left = bytes_.size() - std::min<ByteCount>(offset, bytes_.size());
  const std::size_t count = std::min<ByteCount>(out.size(), left);
  if (count != 0) std::memcpy(out.data(), bytes_.data() + offset, count);
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

namespace {

std::uint8_t swapped(std::uint8_t word) { return word; }
std::uint16_t swapped(std::uint16_t word) { return __builtin_bswap16(word); }
std::uint32_t swapped(std::uint32_t word) { return __builtin_bswap32(word); }
std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }

template <class Word>
void swap_words(MutableBytes bytes) {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof(Word));
    word = swapped(word);
    std::memcpy(bytes.data() + at, &word, sizeof(Word));
  }
}

}  // namespace

void to_native(MutableBytes values, DType dtype, ByteOrder order) {
  static_assert(std::endian::native == std::endian::little);
  if (order == ByteOrder::little) return;
  with_word_of(dtype, [&](auto zero) { swap_words<decltype(zero)>(values); });
}

}  // namespace cuszi
