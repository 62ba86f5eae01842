#include "app/cli/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "codec/io/file_descriptor.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void open_if_closed(int fd, int wrong_way) {
  if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) return;
  // Lower numbers are open by now.
  if (::open("/dev/null", wrong_way) != fd) std::abort();
}

}  // namespace

void open_standard_streams() {
  open_if_closed(STDIN_FILENO, O_WRONLY);
  open_if_closed(STDOUT_FILENO, O_RDONLY);
  open_if_closed(STDERR_FILENO, O_RDONLY);
}

void print_out(std::string_view text) {
  if (write_all(STDOUT_FILENO, bytes_of(text)) || errno == EBADF) return;
  throw OutputError(fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

void print_error(std::string_view text) noexcept {
  static_cast<void>(write_all(STDERR_FILENO, bytes_of(text)));
}

}  // namespace cuszi::app
