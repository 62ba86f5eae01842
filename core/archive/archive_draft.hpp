#pragma once

#include <cstddef>
#include <cstdint>

#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Bytes around an archive's payload, with gaps for values not known yet.
struct DraftBytes {
  static constexpr unsigned room = 120;

  std::byte bytes[room] = {};
  std::uint32_t size = 0;
};

/// Templates of an archive of one frame (`tiles`, stored or constant) that a kernel completes to
/// the bytes of write_archive_header(), write_frame_header() and write_archive_footer(). Numbers of
/// variable length have a template per length.
struct ArchiveDraft {
  static constexpr unsigned most_size_bytes = 5;  ///< of a varint: sizes below 2^35

  DraftBytes header;                   ///< of the archive; ends with its hash
  DraftBytes coded[most_size_bytes];   ///< tables, by the varint length of the codes' size
  DraftBytes stored;                   ///< a table
  DraftBytes constant;                 ///< a table
  DraftBytes footer[most_size_bytes];  ///< by the varint length of the frame's size, which comes
                                       ///< first

  std::uint32_t mode_at;  ///< in `header`; both bounds follow
  std::uint32_t min_at;   ///< in tables; the maximum follows
  std::uint32_t half_step_at;

  ByteCount index_bytes;  ///< of a coded frame
  ByteCount value_bytes;
  ByteCount constant_bytes;

  /// For archives with this header, one frame and no fill values.
  static ArchiveDraft of(const ArchiveHeader& header);

  // A table ends with the size of its last section, the payload's hash and its own.
  static constexpr std::uint32_t hash_bytes = sizeof(std::uint64_t);
  static constexpr std::uint32_t payload_hash_before_end = 2 * hash_bytes;
  static constexpr std::uint32_t kind_at = frame_prefix_bytes + 1;  ///< in tables
};

}  // namespace cuszi
