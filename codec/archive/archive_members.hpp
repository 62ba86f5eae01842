#pragma once

#include <span>
#include <vector>

#include "codec/io/byte_source.hpp"
#include "core/archive/archive.hpp"

namespace cuszi {

/// A whole archive among those that make up a file.
struct ArchiveMember {
  ArchiveHeader header;
  ByteCount start = 0;
  ByteCount frames_start = 0;
  std::vector<ByteCount> frame_bytes;
  ByteCount end = 0;  ///< after the footer

  ByteCount header_bytes() const { return frames_start - start; }
  ByteCount footer_bytes() const;
};

/// Finds the members by their footers, from the last one back; reads their footers and headers
/// only. Requires a known size. Empty if `source` is no chain of whole members.
std::vector<ArchiveMember> members_from_end(const ByteSource& source);

/// Header of the field that the members stack to. Its bound holds for all of them. Throws
/// ArchiveError unless they have one type and equal extents behind the slowest axis.
ArchiveHeader stacked_header(std::span<const ArchiveMember> members);

/// Whether bytes from `start` on are what a stopped writer leaves of a member: its beginning if
/// `is_cut`, or zeros at the end. Throws ArchiveError if they are not of a member.
bool is_unfinished_member(const ByteSource& source, ByteCount start, bool is_cut);

}  // namespace cuszi
