#include "app/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "app/interruption.hpp"
#include "codec/byte_source.hpp"
#include "core/error.hpp"

namespace cuszi::app {

OutputFile::OutputFile(std::string path, bool force) : path_(std::move(path)), force_(force) {
  struct stat status {};
  const bool exists = !is_standard_stream(path_) && ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw OutputError(path_ + ": is a folder; name a file in it");
  }
  if (exists && S_ISREG(status.st_mode) && !force_) {
    throw OutputError(path_ + ": exists; --force overwrites it");
  }
  if (is_standard_stream(path_) || (exists && !S_ISREG(status.st_mode))) {
    open_stream();
  } else {
    open_temporary();
  }
}

OutputFile::~OutputFile() {
  if (is_stream()) return;
  ::unlink(temporary_.c_str());
  set_unfinished(nullptr);
}

void OutputFile::open_stream() {
  const bool standard = is_standard_stream(path_);
  if (standard && ::isatty(STDOUT_FILENO) != 0) {
    throw OutputError("standard output is a terminal; redirect it or name a file with -o");
  }
  file_ =
      FileDescriptor(standard ? ::dup(STDOUT_FILENO) : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_.is_open()) fail("be opened");
}

void OutputFile::open_temporary() {
  std::string beside = fmt::format("{}.{}.tmp", path_, ::getpid());
  file_ = FileDescriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail("be created");
  temporary_ = std::move(beside);
  set_unfinished(temporary_.c_str());
}

void OutputFile::write(Bytes bytes) {
  if (!write_all(file_, bytes)) fail("be written");
}

void OutputFile::write_at(ByteCount offset, Bytes bytes) {
  const std::scoped_lock turn(writing_);
  if (!write_all_at(file_, offset, bytes)) fail("be written");
}

void OutputFile::commit() {
  if (is_stream()) return;
  if (::fsync(file_.get()) != 0) fail("be written");
  // Not every file system can refuse to replace while renaming; the constructor has looked before.
  const unsigned flags = force_ ? 0 : RENAME_NOREPLACE;
  int status = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags);
  if (status != 0 && errno == EINVAL) status = ::rename(temporary_.c_str(), path_.c_str());
  if (status != 0) fail("be put in place");
  set_unfinished(nullptr);
  temporary_.clear();
}

void OutputFile::fail(const char* what) const {
  throw OutputError(fmt::format("{}: cannot {}: {}",
                                is_standard_stream(path_) ? "standard output" : path_, what,
                                std::strerror(errno)));
}

}  // namespace cuszi::app
