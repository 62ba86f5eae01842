#include "bench/measure/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

[[noreturn]] void fail(const std::string& folder, const char* what) {
  throw OutputError(fmt::format("a temporary file in {} cannot {}: {} (TMPDIR names the folder)",
                                folder, what, std::strerror(errno)));
}

std::string folder() {
  std::error_code no_such_folder;
  return std::filesystem::temp_directory_path(no_such_folder);
}

}  // namespace

ScratchFile::ScratchFile() {
  std::string name = folder() + "/cuszi.XXXXXX";
  file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_.is_open()) fail(folder(), "be created");
  ::unlink(name.c_str());
}

void ScratchFile::write(Bytes bytes) {
  if (!write_all(file_.get(), bytes)) fail(folder(), "be written");
}

void ScratchFile::write_at(ByteCount offset, Bytes bytes) {
  const std::scoped_lock turn(writing_);
  if (!write_all_at(file_.get(), offset, bytes)) fail(folder(), "be written");
}

std::string ScratchFile::path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

}  // namespace cuszi
