#include "tests/support/hostile_archive.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_summary.hpp"
#include "core/base/error.hpp"
#include "tests/support/archive_codec.hpp"

namespace cuszi::test {

namespace {

/// Fields that are larger take time and memory, not new paths.
constexpr std::uint64_t max_values = std::uint64_t{1} << 14;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

bool same(Bytes a, Bytes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

/// Whether an archive can be read from a pipe, which shows no unfinished member.
bool fits_a_pipe(Bytes archive) {
  MemorySource source(archive);
  const ArchiveReader reader(source);
  return reader.members() == 1 && reader.unfinished_bytes() == 0;
}

/// All that can be checked without restoring anything; of one member, through a pipe.
void check(Bytes archive) {
  PipeSource pipe(archive);
  MemorySource memory(archive);
  const bool is_one = fits_a_pipe(archive);
  ByteSource& source = is_one ? static_cast<ByteSource&>(pipe) : memory;
  ArchiveReader reader(source);
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const ArchiveFrame frame = reader.next_frame();
    count_exceptions(frame.header, frame.payload);
  }
  if (reader.amendment()) reader.read_amendment();
  reader.finish();
  require(reader.amendment() || !is_one || !reader.finds_frames(), "frames are found in a pipe");
  require(reader.header_bytes() < archive.size(), "a header is all of an archive");
  const ByteCount unfinished = reader.unfinished_bytes();
  require(
      reader.bytes_read() + unfinished == archive.size() && reader.bytes_skipped() == unfinished,
      "not all of an archive was read");
}

/// The bytes in a file without a name, of a time that is past: nobody is writing to it.
FileSource file_of(Bytes bytes) {
  FileDescriptor file(::memfd_create("archive", MFD_CLOEXEC));
  constexpr std::array<timespec, 2> past{};
  require(write_all(file.get(), bytes) && ::futimens(file.get(), past.data()) == 0,
          "a file cannot be made");
  return {std::move(file), "a file"};
}

void check_preview(ByteSource& source, const ArchiveHeader& header, std::uint64_t stride,
                   const std::optional<std::vector<std::byte>>& whole) {
  const RestoredPreview shown = restore_preview(source, stride);
  const ByteCount size = size_of(header.dtype);
  require(shown.values.size() == shown.dims.count() * size, "a preview has not its dims' size");
  require(!whole || same(shown.values, thinned(*whole, size, header.plan.dims, shown.dims, stride)),
          "a preview shows what the field has not");
}

void check_last_frame(Bytes archive, const ArchiveHeader& header,
                      const std::optional<std::vector<std::byte>>& whole) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  const std::uint64_t last = header.plan.frames() - 1;
  const ByteCount size = size_of(header.dtype);
  CallTimes times;
  Preview preview(header.plan.only(last), 1);
  Backends backends({DeviceChoice::Kind::cpu, 0});
  ByteCount frame_bytes = 0;
  const Dims dims = header.plan.frame_dims(last);
  FrameUsers users;
  users.look = [&](const RestoredFrame& frame) {
    if (frame.bounds == nullptr) return;
    const double bound = frame.bounds->of_points({dims}).of(dims.count() - 1);
    require(bound > 0 || (bound == 0 && is_integer(header.dtype)), "a point has no bound");
  };
  users.use = [&](std::uint64_t, Bytes values) {
    require(values.size() == dims.count() * size, "a frame has not its dims' size");
    require(!whole || same(values, Bytes(*whole).subspan(header.plan.first_value(last) * size,
                                                         values.size())),
            "a frame alone is another than in its field");
  };
  restore_frame(backends, reader, last, preview, times, users, frame_bytes);
}

/// Whether reading succeeds; it may fail in no other way than these.
template <class Read>
bool succeeds(const Read& read) {
  try {
    read();
    return true;
  } catch (const ArchiveError&) {
    return false;
  } catch (const DeviceError&) {  // a section claims to be packed
    return false;
  }
}

/// The whole field as a tool restores it that lets frames be taken away in parts.
std::vector<std::byte> restore_in_place(Bytes archive) {
  FileSource source = file_of(archive);
  ArchiveReader reader(source);
  CallTimes times;
  Backends backends({DeviceChoice::Kind::cpu, 0});
  std::vector<std::byte> values;
  const auto append = [&](Bytes part) { values.insert(values.end(), part.begin(), part.end()); };
  restore_field(backends, reader, times,
                {[](std::uint64_t, Bytes) { require(false, "a frame is not used in parts"); },
                 [&](std::uint64_t, ByteCount offset, Bytes frame) {
                   require(offset == 0, "a CPU cuts frames into parts");
                   append(frame);
                 }});
  source.expect_unchanged();
  return values;
}

/// A frame behind the last one is a mistake of the caller's, not of the archive's.
void check_no_more_frames(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  try {
    reader.frame(reader.frames());
    require(false, "there is a frame behind the last one");
  } catch (const UsageError&) {
    return;
  }
}

/// Returns whether all of the archive can be restored; then its parts can.
bool restore(Bytes archive, const ArchiveHeader& header) {
  std::optional<std::vector<std::byte>> whole;
  succeeds([&] { whole = restore_archive(archive); });
  require(!whole || whole->size() == header.plan.dims.count() * size_of(header.dtype),
          "a field has not the size of its dims");
  if (archive.size() % 4 == 0) {
    const bool again = succeeds(
        [&] { require(whole == restore_in_place(archive), "payloads left in a file are others"); });
    require(again == whole.has_value(), "payloads left in a file make a difference");
  }
  check_no_more_frames(archive);
  MemorySource file(archive);
  PipeSource pipe(archive);
  const bool is_file = archive.size() % 2 == 0 || !fits_a_pipe(archive);
  ByteSource& source = is_file ? static_cast<ByteSource&>(file) : pipe;
  const std::uint64_t stride = 2 + archive.size() % 7;
  const bool shown = succeeds([&] { check_preview(source, header, stride, whole); });
  const bool alone = succeeds([&] { check_last_frame(archive, header, whole); });
  require(!whole || (shown && alone), "a part of a field that can be restored is refused");
  return whole.has_value();
}

}  // namespace

Outcome read_hostile(Bytes archive) {
  std::optional<ArchiveHeader> header;
  const bool checked = succeeds([&] {
    MemorySource source(archive);
    header = ArchiveReader(source).header();
    check(archive);
  });
  if (!header) return Outcome::refused;
  if (header->plan.dims.count() > max_values) return Outcome::too_large;
  const bool restored = restore(archive, *header);
  require(!restored || checked, "what can be restored is refused by a check");
  return restored ? Outcome::restored : Outcome::refused;
}

}  // namespace cuszi::test
