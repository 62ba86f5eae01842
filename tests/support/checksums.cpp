#include "tests/support/checksums.hpp"

#include <algorithm>
#include <cstring>

#include "core/archive/amendment.hpp"
#include "core/archive/archive.hpp"
#include "core/backend/backend.hpp"
#include "core/base/bytes.hpp"

namespace cuszi::test {

namespace {

/// Cuts the next `size` bytes off `rest`. Throws ArchiveError if there are fewer.
MutableBytes take(MutableBytes& rest, ByteCount size) {
  if (size > rest.size()) throw ArchiveError("the archive is truncated");
  const MutableBytes part = rest.first(size);
  rest = rest.subspan(size);
  return part;
}

/// Repairs a frame's table for the payload that begins `rest`; returns the payload's size.
ByteCount repair_table(MutableBytes table, const FrameShape& shape, MutableBytes rest) {
  rehash(table);
  FrameHeader header = read_frame_header(table, shape.dims, shape.dtype);
  for (LevelEntry& level : header.levels) level.hash = block_hash(take(rest, level.size()));
  const std::vector<std::byte> repaired = write_frame_header(header);
  // A number that is not written the shortest way gives another size: then the hashes stay wrong.
  if (repaired.size() == frame_prefix_bytes + table.size()) {
    std::copy(repaired.begin() + frame_prefix_bytes, repaired.end(), table.begin());
  }
  return header.payload_bytes();
}

void repair(MutableBytes rest);

/// Repairs an amended archive, whose parts follow its header.
void repair_amended(MutableBytes header, Amendment amendment, MutableBytes rest) {
  const MutableBytes base = take(rest, amendment.base_bytes);
  const MutableBytes exact = take(rest, amendment.exact_bytes);
  amendment.exact_hash = block_hash(exact);
  const std::vector<std::byte> repaired = write_amended_header(amendment);
  if (repaired.size() == archive_prefix_bytes + header.size()) {
    std::copy(repaired.begin() + archive_prefix_bytes, repaired.end(), header.begin());
  }
  for (const MutableBytes part : {base, take(rest, amendment.inner_bytes)}) {
    try {
      repair(part);
    } catch (const ArchiveError&) {
      // The other part may still be what readers get to.
    }
  }
}

void repair(MutableBytes rest) {
  const MutableBytes body = [&] {
    const ByteCount size = read_archive_prefix(take(rest, archive_prefix_bytes));
    return take(rest, size);
  }();
  rehash(body);
  if (const auto amendment = read_amended_header(body)) {
    return repair_amended(body, *amendment, rest);
  }
  const ArchiveHeader header = read_archive_header(body);
  for (std::uint64_t i = 0; i < header.plan.frames(); ++i) {
    const ByteCount size = read_frame_prefix(take(rest, frame_prefix_bytes));
    const MutableBytes table = take(rest, size);
    take(rest, repair_table(table, {header.dtype, header.plan.frame_dims(i)}, rest));
  }
  if (rest.size() > archive_trailer_bytes) {
    rehash(rest.first(rest.size() - archive_trailer_bytes));
  }
}

}  // namespace

void rehash(MutableBytes hashed) {
  if (hashed.size() < sizeof(std::uint64_t)) throw ArchiveError("there is no room for a checksum");
  const MutableBytes body = hashed.first(hashed.size() - sizeof(std::uint64_t));
  const std::uint64_t hash = block_hash(body);
  std::memcpy(hashed.data() + body.size(), &hash, sizeof hash);
}

void repair_checksums(std::vector<std::byte>& archive) {
  try {
    repair(archive);
  } catch (const ArchiveError&) {
    // What follows makes no sense any more; no reader will get there either.
  }
}

}  // namespace cuszi::test
