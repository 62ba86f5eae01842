#include "app/output/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>

#include "app/cli/cli.hpp"
#include "app/output/output_plan.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// Global for the signal handler.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

void remove_unfinished() {
  const char* const path = unfinished.load();
  if (path != nullptr) ::unlink(path);
}

extern "C" void end_as_interrupted(int signal) {
  remove_unfinished();
  ::raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_interruptions() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGPIPE, SIGXCPU, SIGSEGV,
                           SIGBUS, SIGFPE, SIGILL}) {
    handle(signal, end_as_interrupted);
  }
  handle(SIGXFSZ, SIG_IGN);
  if (std::atexit(remove_unfinished) != 0) throw DeviceError("not enough memory to start");
}

void set_unfinished(const char* path) { unfinished = path; }

namespace {

namespace fs = std::filesystem;

constexpr mode_t owner_alone = 0600;
constexpr mode_t all_but_umask = 0666;

/// A path by which an unnamed file can be linked.
std::string handle_path(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

std::optional<struct stat> status_of_input(const std::string& input) {
  struct stat status {};
  const int failed =
      is_standard_stream(input) ? ::fstat(STDIN_FILENO, &status) : ::stat(input.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

}  // namespace

OutputFile::OutputFile(std::string path, const std::string& input, bool force, Writer writer)
    : path_(std::move(path)), force_(force) {
  if (is_standard_stream(path_)) {
    open_stream();
    return;
  }
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("be created");
  if (exists && S_ISDIR(status.st_mode)) {
    throw OutputError(path_ + ": is a folder; name a file in it");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    open_stream();
    return;
  }
  if (exists && !force_) throw OutputError(path_ + ": exists; --force overwrites it");
  input_ = status_of_input(input);
  open_sibling(writer);
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  set_unfinished(nullptr);
}

void OutputFile::open_stream() {
  is_stream_ = true;
  const bool standard = is_standard_stream(path_);
  if (standard && ::isatty(STDOUT_FILENO) != 0) {
    throw OutputError("standard output is a terminal; redirect it or name a file with -o");
  }
  file_ =
      FileDescriptor(standard ? ::dup(STDOUT_FILENO) : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_.is_open()) fail("be opened");
}

void OutputFile::open_sibling(Writer writer) {
  place_ = end_of_links(path_);
  folder_ = fs::path(place_).parent_path() / ".";
  if (writer == Writer::by_name) {
    open_named();
    return;
  }
  const mode_t mode = input_ ? owner_alone : all_but_umask;
  file_ = FileDescriptor(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (!file_.is_open() || ::access(handle_path(file_).c_str(), F_OK) != 0) open_named();
}

/// A unique name, set for signal handlers before the file exists.
void OutputFile::take_name() {
  std::random_device random;
  const std::uint64_t unique = std::uint64_t{random()} << 32 | random();
  temporary_ = fmt::format("{}/cuszi.{:016x}.tmp", folder_, unique);
  set_unfinished(temporary_.c_str());
}

void OutputFile::drop_name() {
  set_unfinished(nullptr);
  temporary_.clear();
}

/// For file systems without O_TMPFILE, or without /proc.
void OutputFile::open_named() {
  take_name();
  constexpr int flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
  file_ = FileDescriptor(::open(temporary_.c_str(), flags, owner_alone));
  if (!file_.is_open()) {
    drop_name();
    fail("be created");
  }
  if (input_) return;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file_.get(), all_but_umask & ~mask);
}

/// Group permissions apply to the input's group only.
void OutputFile::take_permissions() {
  constexpr mode_t all = 0777;
  constexpr mode_t group = 0070;
  mode_t mode = input_->st_mode & all;
  struct stat status {};
  const bool same_group =
      ::fstat(file_.get(), &status) == 0 &&
      (status.st_gid == input_->st_gid || ::fchown(file_.get(), uid_t(-1), input_->st_gid) == 0);
  if (!same_group) mode &= ~group | ((mode & 07) << 3);
  if (::fchmod(file_.get(), mode) != 0) fail("be given the permissions of its input");
}

void OutputFile::write(Bytes bytes) {
  if (!write_all(file_.get(), bytes)) fail("be written");
}

void OutputFile::write_at(ByteCount offset, Bytes bytes) {
  if (!parts_.write_at(file_.get(), offset, bytes)) fail("be written");
}

FileDescriptor OutputFile::duplicate() const {
  FileDescriptor copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) fail("be read back");
  return copy;
}

std::string OutputFile::path_to_write() const {
  return temporary_.empty() ? handle_path(file_) : temporary_;
}

void OutputFile::sync() {
  if (is_stream_) return;
  if (input_) take_permissions();
  if (::fsync(file_.get()) != 0) fail("be written");
}

void OutputFile::commit() {
  if (is_stream_) return;
  if (temporary_.empty()) link_into_place();
  if (!temporary_.empty()) move_into_place();
  is_folder_synced_ = sync_folder();
}

bool OutputFile::is_safe() const {
  struct stat written {};
  struct stat named {};
  return is_folder_synced_ && ::fstat(file_.get(), &written) == 0 &&
         ::stat(place_.c_str(), &named) == 0 && written.st_dev == named.st_dev &&
         written.st_ino == named.st_ino;
}

/// To overwrite, links under a temporary name first: links never replace.
void OutputFile::link_into_place() {
  const std::string handle = handle_path(file_);
  const auto link_to = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_to(place_)) return;
  if (errno != EEXIST || !force_) fail("be put in place");
  take_name();
  if (link_to(temporary_)) return;
  drop_name();
  fail("be put in place");
}

void OutputFile::move_into_place() {
  // File systems may lack RENAME_NOREPLACE; the constructor has checked before.
  const unsigned flags = force_ ? 0 : RENAME_NOREPLACE;
  int status = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, place_.c_str(), flags);
  if (status != 0 && errno == EINVAL) status = ::rename(temporary_.c_str(), place_.c_str());
  if (status != 0) fail("be put in place");
  drop_name();
}

/// Syncs the folder entry; false if unsupported.
bool OutputFile::sync_folder() const {
  const FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return false;
  if (::fsync(folder.get()) == 0) return true;
  if (errno == EIO || errno == ENOSPC || errno == EDQUOT) fail("be put in place");
  return false;
}

void OutputFile::fail(const char* what) const {
  throw OutputError(fmt::format("{}: cannot {}: {}",
                                is_standard_stream(path_) ? "standard output" : path_, what,
                                std::strerror(errno)));
}

}  // namespace cuszi::app
