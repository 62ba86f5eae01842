#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codec/io/byte_source.hpp"
#include "core/archive/amendment.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

/// A frame as it stands in an archive, ready to be restored.
struct ArchiveFrame {
  FrameShape shape;
  FrameHeader header;
  ByteCount table_bytes = 0;       ///< in front of the payload
  ByteCount payload_bytes = 0;     ///< in the archive
  std::vector<std::byte> payload;  ///< as much of it as was asked for,
  std::optional<ByteCount> place;  ///< or where it starts, if it was left in the archive

  ByteCount size() const { return table_bytes + payload_bytes; }
};

/// Says how many levels of a frame, whose payload is yet to be read, are wanted.
using LevelsWanted = std::function<std::size_t(const ArchiveFrame&)>;

inline std::size_t all_levels(const ArchiveFrame& frame) { return frame.header.levels.size(); }

/// What an amended archive has besides its base, see Amendment.
struct AmendmentParts {
  std::vector<std::byte> exact;
  std::vector<std::byte> inner;
};

/// Reads an archive from a file or a pipe; of an amended one, the base, whose frames are those of
/// the archive, and what amends it. Everything is checked before it is believed: every
/// function throws ArchiveError, and none allocates more than the bytes that are there justify.
class ArchiveReader {
 public:
  /// Reads the header. Where the size of `source` is known, the frames and values that the header
  /// claims are checked against it, so that work and memory for each of them are justified.
  /// `source` must outlive the reader.
  explicit ArchiveReader(ByteSource& source) : ArchiveReader(source, Claims::checked) {}

  /// Reads the header of an archive, of which nothing else has to be there.
  static ArchiveHeader header_of(ByteSource& source) {
    return ArchiveReader(source, Claims::unchecked).header_;
  }

  const ArchiveHeader& header() const { return header_; }

  /// What amends the archive, if anything does.
  const std::optional<Amendment>& amendment() const { return amendment_; }
  /// Reads the parts of an amendment that is there.
  AmendmentParts read_amendment();

  ByteCount header_bytes() const { return header_bytes_; }
  std::uint64_t frames() const { return header_.plan.frames(); }

  /// Leaves payloads in the archive from now on, if they can be read from there later.
  void leave_payloads() { leaves_payloads_ = source_.size().has_value(); }

  /// Whether the host has the archive in its memory.
  bool is_in_memory() const { return !source_.view().empty(); }

  /// Fills `part` with a payload that was left in the archive, from byte `offset` of it on. For
  /// several threads at once.
  void read_payload(const ArchiveFrame& frame, ByteCount offset, MutableBytes part) const;

  /// A payload that was left in the archive, if it lies in the host's memory; else none.
  Bytes host_payload(const ArchiveFrame& frame) const;
  /// A payload that was left in the archive, if it lies in a device's memory; else none.
  Bytes device_payload(const ArchiveFrame& frame) const;

  /// The frame after the last one read. Its header lists the wanted levels alone.
  ArchiveFrame next_frame(const LevelsWanted& wanted = all_levels);

  /// Checks the footer against the frames, and that nothing follows it; to be called after the last
  /// frame. Returns the footer's size.
  ByteCount finish();

  /// Whether frame() finds a frame without reading all before it.
  bool finds_frames() const { return source_.size().has_value(); }

  /// Frame `i` alone, found through the footer; in a pipe by reading all before it.
  ArchiveFrame frame(std::uint64_t i, const LevelsWanted& wanted = all_levels);

  /// The bytes of the header and of the frames and footer that were read.
  ByteCount bytes_read() const { return bytes_read_; }
  /// The bytes of levels that were not wanted.
  ByteCount bytes_skipped() const { return bytes_skipped_; }

 private:
  enum class Claims { checked, unchecked };

  ArchiveReader(ByteSource& source, Claims claims);
  void expect_frames_in(ByteCount bytes) const;
  ByteSource& begin(ByteSource& source);
  ByteCount end() const;
  std::vector<std::byte> take(ByteCount size, const char* what);
  ByteCount leave(ByteCount wanted, ByteCount size, const char* what);
  void move_to(ByteCount position);
  void skip(ByteCount size);
  const std::vector<ByteCount>& frame_starts();

  std::optional<Amendment> amendment_;
  ByteCount base_end_ = 0;             ///< of an amended archive
  bool is_amendment_read_ = false;     ///< its parts were
  std::vector<std::byte> piped_;       ///< an amended archive from a pipe
  std::unique_ptr<ByteSource> whole_;  ///< that is read instead of the pipe
  std::vector<std::byte> begin_;       ///< the first header, without its prefix
  ByteCount bytes_read_ = 0;
  ByteCount position_ = 0;
  ByteSource& source_;
  ByteCount header_bytes_ = 0;
  ArchiveHeader header_;
  bool leaves_payloads_ = false;
  ByteCount bytes_skipped_ = 0;
  std::uint64_t next_ = 0;
  std::vector<ByteCount> frame_bytes_;   ///< of the frames read in order
  std::vector<ByteCount> frame_starts_;  ///< and the last one's end, once the footer has been read
};

}  // namespace cuszi
