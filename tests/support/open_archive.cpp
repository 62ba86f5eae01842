#include "tests/support/open_archive.hpp"

#include <algorithm>

#include "codec/archive/archive_reader.hpp"
#include "core/base/bytes.hpp"

namespace cuszi::test {

namespace {

constexpr ByteCount hash_bytes = sizeof(std::uint64_t);

OpenFrame open_frame(const ArchiveFrame& frame) {
  OpenFrame open{frame.header, {}};
  auto next = frame.payload.begin();
  for (const LevelEntry& entry : frame.header.levels) {
    OpenLevel& level = open.levels.emplace_back();
    for (const SectionEntry& section : entry.sections) {
      const auto end = next + static_cast<std::ptrdiff_t>(section.size);
      level.push_back({section.id, section.pass, section.unpacked, {next, end}, section.wide_id});
      next = end;
    }
  }
  return open;
}

std::vector<std::byte> payload_of(const OpenLevel& level) {
  std::vector<std::byte> payload;
  for (const OpenSection& section : level) {
    payload.insert(payload.end(), section.bytes.begin(), section.bytes.end());
  }
  return payload;
}

LevelEntry entry_of(const OpenLevel& level) {
  LevelEntry entry;
  std::size_t pass = 0;
  for (const OpenSection& section : level) {
    pass = std::max(pass, section.pass);  // a table cannot say that passes go back
    entry.sections.push_back(
        {section.id, section.bytes.size(), pass, section.unpacked, section.wide_id});
  }
  entry.hash = block_hash(payload_of(level));
  return entry;
}

/// Lets `change` have the body of `written`, which stands between a prefix, whose last bytes are
/// the size of all behind it, and a hash.
template <class Size>
std::vector<std::byte> resealed(const std::vector<std::byte>& written, ByteCount prefix, Body kind,
                                const ChangeBody& change) {
  std::vector<std::byte> body(written.begin() + static_cast<std::ptrdiff_t>(prefix),
                              written.end() - static_cast<std::ptrdiff_t>(hash_bytes));
  change(kind, body);
  ByteWriter out;
  out.append(Bytes(written).first(prefix - sizeof(Size)));
  out.put(static_cast<Size>(body.size() + hash_bytes));
  out.append(body);
  out.put(block_hash(body));
  return out.take();
}

std::vector<std::byte> footer_of(const std::vector<ByteCount>& sizes, const ChangeBody& change) {
  const std::vector<std::byte> written = write_archive_footer(sizes);
  const std::size_t size = written.size() - hash_bytes - archive_trailer_bytes;
  std::vector<std::byte> body(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(size));
  change(Body::footer, body);
  ByteWriter out;
  out.append(body);
  out.put(block_hash(body));
  out.put(body.size() + hash_bytes + archive_trailer_bytes);
  out.append(Bytes(written).last(archive_trailer_bytes - sizeof(std::uint64_t)));
  return out.take();
}

}  // namespace

OpenArchive::OpenArchive(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  if (reader.members() != 1) throw ArchiveError("an archive of several members is not taken apart");
  header = reader.header();
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    frames.push_back(open_frame(reader.next_frame()));
  }
  reader.finish();
  amendment = reader.amendment();
  if (amendment) amended = reader.read_amendment();
}

std::vector<std::byte> OpenArchive::close(const ChangeBody& change) const {
  ByteWriter out;
  out.append(resealed<std::uint16_t>(write_archive_header(header), archive_prefix_bytes,
                                     Body::header, change));
  std::vector<ByteCount> sizes;
  for (const OpenFrame& frame : frames) {
    const ByteCount start = out.size();
    FrameHeader table = frame.header;
    table.levels.clear();
    for (const OpenLevel& level : frame.levels) table.levels.push_back(entry_of(level));
    out.append(resealed<std::uint32_t>(write_frame_header(table), frame_prefix_bytes, Body::table,
                                       change));
    for (const OpenLevel& level : frame.levels) out.append(payload_of(level));
    sizes.push_back(out.size() - start);
  }
  out.append(footer_of(sizes, change));
  if (!amendment) return out.take();
  Amendment around = *amendment;
  around.base_bytes = out.size();
  ByteWriter all;
  all.append(write_amended_header(around));
  for (const Bytes part : {out.view(), Bytes(amended.exact), Bytes(amended.inner)})
    all.append(part);
  return all.take();
}

}  // namespace cuszi::test
