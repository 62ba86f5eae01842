// Preloaded, makes every file system one without unnamed files (O_TMPFILE). The signal of the
// number in SIGNAL_AT_CREATION comes as soon as a file has been created. With FOLDERS_CANNOT_SYNC
// fsync(2) takes no folder.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>

namespace {

using Open = int (*)(const char*, int, ...);

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const int file = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, name))(path, flags, mode);
  const char* const number = std::getenv("SIGNAL_AT_CREATION");
  if (number != nullptr && file >= 0 && (flags & O_CREAT) != 0) std::raise(std::atoi(number));
  return file;
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" int fsync(int file) {
  struct stat status {};
  if (std::getenv("FOLDERS_CANNOT_SYNC") != nullptr && ::fstat(file, &status) == 0 &&
      S_ISDIR(status.st_mode)) {
    errno = EINVAL;
    return -1;
  }
  using Sync = int (*)(int);
  return reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, "fsync"))(file);
}

extern "C" int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_as("open", path, flags, mode);
}

extern "C" int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_as("open64", path, flags, mode);
}
