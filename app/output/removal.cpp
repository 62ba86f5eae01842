#include "app/output/removal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "codec/files/input_field.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"
#include "core/field/bound.hpp"

namespace cuszi::app {

namespace {

[[noreturn]] void refuse(const std::string& input, std::string_view why) {
  throw UsageError(fmt::format("{}: {}; leave out --rm", input, why));
}

void require_one_name(const std::string& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return;
  if (S_ISLNK(status.st_mode)) refuse(file, "is a link, and only the link would be removed");
  if (S_ISDIR(status.st_mode)) return;
  if (!S_ISREG(status.st_mode)) refuse(file, "is not a regular file");
  if (status.st_nlink == 1) return;
  refuse(file, fmt::format("has {} hard links, and only one would be removed", status.st_nlink));
}

/// Open errors are reported later.
bool may_be_whole(const std::string& input, const FieldOptions& field) {
  try {
    return open_input(input, field).is_whole;
  } catch (const Error&) {
    return true;
  }
}

void require_removable(const std::string& input, const FieldOptions& field) {
  if (is_standard_stream(input)) refuse("standard input", "is not a regular file");
  const FieldPath path = field_path(input);
  if (path.holds_variables()) refuse(input, "may contain more than the archive");
  require_one_name(path.file);
  if (!may_be_whole(input, field)) refuse(input, "contains more than the archive");
}

}  // namespace

void require_removable_inputs(const CompressOptions& options) {
  if (options.field.skip_bytes) {
    throw UsageError("--rm and --skip-bytes exclude each other; leave out one of them");
  }
  if (options.settings.bound == no_bound) {
    throw UsageError("--rm with --zfp-mode precision or rate needs --error-bound");
  }
  if (options.accepts_missed_target) {
    throw UsageError("--rm and --target-miss ok exclude each other; leave out one of them");
  }
  for (const std::string& input : options.inputs) require_removable(input, options.field);
}

void require_lasting_output(const std::string& output) {
  struct stat status {};
  const bool lasts = !is_standard_stream(output) &&
                     (::stat(output.c_str(), &status) != 0 || S_ISREG(status.st_mode));
  if (lasts) return;
  throw UsageError(fmt::format("--rm needs archives in regular files; {} is not one",
                               is_standard_stream(output) ? "standard output" : output));
}

RemovableInput::RemovableInput(const std::string& path) : path_(path) {
  const std::filesystem::path place(path);
  name_ = place.filename();
  const std::string folder = place.parent_path() / ".";
  folder_ = FileDescriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder_.is_open()) return;
  throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
}

void RemovableInput::remove(int file) const {
  struct stat opened {};
  struct stat named {};
  const bool same = ::fstat(file, &opened) == 0 &&
                    ::fstatat(folder_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  if (!same) {
    throw InputError(path_ + ": was replaced while it was compressed; the new file is not removed");
  }
  if (::unlinkat(folder_.get(), name_.c_str(), 0) == 0) return;
  throw OutputError(fmt::format("{}: cannot be removed: {}", path_, std::strerror(errno)));
}

}  // namespace cuszi::app
