#include "app/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "app/byte_source.hpp"
#include "core/error.hpp"

namespace cuszi::app {

namespace {

constexpr ByteCount max_transfer = ByteCount{1} << 30;

/// A signal handler can reach nothing but a global.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

extern "C" void remove_unfinished(int signal) {
  const char* const path = unfinished.load();
  if (path != nullptr) ::unlink(path);
  ::raise(signal);
}

/// Lets an interrupted process remove its unfinished file before it ends as it would have.
void handle_interruptions() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_unfinished;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

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
  unfinished = nullptr;
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
  handle_interruptions();
  std::string beside = fmt::format("{}.{}.tmp", path_, ::getpid());
  file_ = FileDescriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail("be created");
  temporary_ = std::move(beside);
  unfinished = temporary_.c_str();
}

void OutputFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min<ByteCount>(bytes.size(), max_transfer);
    const ssize_t done = ::write(file_.get(), bytes.data(), wanted);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("be written");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void OutputFile::commit() {
  if (is_stream()) return;
  if (::fsync(file_.get()) != 0) fail("be written");
  // Not every file system can refuse to replace while renaming; the constructor has looked before.
  const unsigned flags = force_ ? 0 : RENAME_NOREPLACE;
  int status = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags);
  if (status != 0 && errno == EINVAL) status = ::rename(temporary_.c_str(), path_.c_str());
  if (status != 0) fail("be put in place");
  unfinished = nullptr;
  temporary_.clear();
}

void OutputFile::fail(const char* what) const {
  throw OutputError(fmt::format("{}: cannot {}: {}",
                                is_standard_stream(path_) ? "standard output" : path_, what,
                                std::strerror(errno)));
}

}  // namespace cuszi::app
