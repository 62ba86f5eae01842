#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/archive/archive_members.hpp"
#include "codec/io/byte_source.hpp"
#include "core/archive/amendment.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

/// A frame as read from an archive.
struct ArchiveFrame {
  FrameShape shape;
  FrameHeader header;
  ByteCount table_bytes = 0;       ///< before the payload
  ByteCount payload_bytes = 0;     ///< in the archive
  std::vector<std::byte> payload;  ///< the requested part, or
  std::optional<ByteCount> place;  ///< position in the archive if it was not read

  ByteCount size() const { return table_bytes + payload_bytes; }
};

/// Levels to read of a frame whose table is given.
using LevelsWanted = std::function<std::size_t(const ArchiveFrame&)>;

inline std::size_t all_levels(const ArchiveFrame& frame) { return frame.header.levels.size(); }

/// See Amendment.
struct AmendmentParts {
  std::vector<std::byte> exact;
  std::vector<std::byte> inner;
};

/// Reads an archive; of an amended one, the base's frames and the amendment. Members of a file are
/// one field; in device memory and in pipes, there is one member. Functions throw ArchiveError on
/// damage and allocate no more than the input justifies.
class ArchiveReader {
 public:
  /// Checks claimed frames and values against the size of `source`, if known. `source` must outlive
  /// the reader.
  explicit ArchiveReader(ByteSource& source) : ArchiveReader(source, Claims::checked) {}

  /// Reads only the headers; the rest of the archive may be absent.
  static ArchiveHeader header_of(ByteSource& source) {
    return ArchiveReader(source, Claims::unchecked).header_;
  }

  const ArchiveHeader& header() const { return header_; }

  /// Nullopt for a plain archive.
  const std::optional<Amendment>& amendment() const { return amendment_; }
  /// Requires amendment().
  AmendmentParts read_amendment();

  std::size_t members() const { return std::max<std::size_t>(members_.size(), 1); }
  /// Whether the footers are those of whole members.
  bool is_whole() const { return is_whole_; }
  /// Bytes after the last whole member, of one whose writer was stopped. They are not read.
  ByteCount unfinished_bytes() const { return unfinished_bytes_; }
  /// One line; empty without unfinished bytes.
  std::string unfinished_warning() const;

  /// Headers of all members.
  ByteCount header_bytes() const { return header_bytes_; }
  std::uint64_t frames() const { return header_.plan.frames(); }

  /// Leaves payloads in the archive from now on, given random access.
  void leave_payloads() { leaves_payloads_ = source_.size().has_value(); }

  bool is_in_memory() const { return !source_.view().empty(); }

  /// Reads a payload left in the archive from byte `offset`. Thread-safe.
  void read_payload(const ArchiveFrame& frame, ByteCount offset, MutableBytes part) const;

  /// The payload in host memory; empty if it is not there.
  Bytes host_payload(const ArchiveFrame& frame) const;
  /// The payload in device memory; empty if it is not there.
  Bytes device_payload(const ArchiveFrame& frame) const;

  /// Reads the next frame; its header lists only the wanted levels.
  ArchiveFrame next_frame(const LevelsWanted& wanted = all_levels);

  /// Checks the last footer and that nothing follows; call last. Returns the size of all footers.
  ByteCount finish();

  /// Whether frame() has random access.
  bool finds_frames() const { return source_.size().has_value(); }

  /// Reads frame `i`; without random access, also all before it.
  ArchiveFrame frame(std::uint64_t i, const LevelsWanted& wanted = all_levels);

  /// Header, frames and footer.
  ByteCount bytes_read() const { return bytes_read_; }
  ByteCount bytes_skipped() const { return bytes_skipped_; }

 private:
  enum class Claims { checked, unchecked };
  struct FramePlace {
    ByteCount start;
    ByteCount bytes;
  };

  ArchiveReader(ByteSource& source, Claims claims);
  /// Reads the member alone that begins at `start`, where the source is.
  ArchiveReader(ByteSource& source, ByteCount start);
  void read_header();
  void expect_frames_in(ByteCount bytes) const;
  void find_members();
  std::vector<ArchiveMember> walked_members();
  ArchiveMember walk();
  void leave_member();
  ByteSource& begin(ByteSource& source);
  ByteCount end() const;
  std::vector<std::byte> take(ByteCount size, const char* what);
  ByteCount leave(ByteCount wanted, ByteCount size, const char* what);
  void move_to(ByteCount position);
  void skip(ByteCount size);
  void take_footer();
  const std::vector<FramePlace>& frame_places();
  void add_places(ByteCount start, const std::vector<ByteCount>& frame_bytes);

  std::vector<ArchiveMember> members_;  ///< if several
  std::size_t member_ = 0;              ///< of the next frame
  bool is_whole_ = false;
  ByteCount unfinished_bytes_ = 0;
  std::optional<Amendment> amendment_;
  ByteCount base_end_ = 0;  ///< if amended
  bool is_amendment_read_ = false;
  std::vector<std::byte> piped_;
  std::unique_ptr<ByteSource> whole_;  ///< replaces the pipe
  std::vector<std::byte> begin_;       ///< without prefix
  ByteCount start_ = 0;
  ByteCount bytes_read_ = 0;
  ByteCount position_ = 0;
  ByteSource& source_;
  ByteCount header_bytes_ = 0;
  ArchiveHeader header_;
  bool leaves_payloads_ = false;
  ByteCount bytes_skipped_ = 0;
  ByteCount footer_bytes_ = 0;
  std::uint64_t next_ = 0;
  std::vector<ByteCount> frame_bytes_;    ///< of the member, read in order
  std::vector<FramePlace> frame_places_;  ///< from the footers
};

}  // namespace cuszi
