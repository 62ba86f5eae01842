#include "codec/archive/append.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "codec/archive/archive_reader.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw OutputError(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno)));
}

FileDescriptor open_alone(const std::string& path) {
  constexpr mode_t all_but_umask = 0666;
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, all_but_umask));
  if (!file.is_open()) fail(path, "opened");
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) fail(path, "locked");
  }
  return file;
}

/// End of the last whole member. Throws ArchiveError if `added` is not a part of its field.
ByteCount end_of_members(const std::string& path, const ArchiveHeader& added) {
  FileSource source(path);
  if (source.size() == ByteCount{0}) return 0;
  const ArchiveReader reader(source);
  if (!reader.is_whole()) throw ArchiveError(path + ": is damaged; nothing was appended");
  std::array<ArchiveMember, 2> members;
  members[0].header = reader.header();
  members[1].header = added;
  stacked_header(members);
  return source.size().value() - reader.unfinished_bytes();
}

/// The trailer, by which a member is found, follows when the rest is safe.
bool write_member(int file, ByteCount end, Bytes member) {
  const ByteCount body = member.size() - archive_trailer_bytes;
  return ::ftruncate(file, static_cast<off_t>(end)) == 0 &&
         FileParts().write_at(file, end, member.first(body)) && ::fdatasync(file) == 0 &&
         FileParts().write_at(file, end + body, member.subspan(body)) && ::fsync(file) == 0;
}

}  // namespace

void append_member(const std::string& path, Bytes member) {
  MemorySource source(member);
  const ArchiveReader added(source);
  if (!added.is_whole() || added.unfinished_bytes() != 0) {
    throw ArchiveError("the archive to append is damaged");
  }
  const FileDescriptor file = open_alone(path);
  const ByteCount end = end_of_members(path, added.header());
  if (write_member(file.get(), end, member)) return;
  const int error = errno;
  // Readers pass over what cannot be cut off.
  [[maybe_unused]] const int result = ::ftruncate(file.get(), static_cast<off_t>(end));
  errno = error;
  fail(path, "written");
}

void continue_settings(const std::string& path, FieldSettings& settings) {
  std::vector<std::byte> begin(most_header_bytes);
  begin.resize(FileSource(path).read(begin));
  MemorySource source(begin);
  const ArchiveHeader header = ArchiveReader::header_of(source);
  const bool goes_with_values = header.value_bound().goes_with_values();
  if (!goes_with_values && header.bound_absolute == no_bound) {
    throw UsageError(path + ": has no bound to continue with; give one");
  }
  settings.mode = goes_with_values ? header.mode : ErrorMode::absolute;
  settings.bound = goes_with_values ? header.bound_asked : header.bound_absolute;
  settings.share = header.share_asked;
  settings.fills = joined(settings.fills, header.fills);
}

}  // namespace cuszi
