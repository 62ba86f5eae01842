#pragma once

#include <cstddef>
#include <cstdint>

#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Bytes of an archive around its payload, with gaps for what is not known yet.
struct DraftBytes {
  static constexpr unsigned room = 120;

  std::byte bytes[room] = {};
  std::uint32_t size = 0;
};

/// The header, the frame's table and the footer of an archive of one frame that `tiles` codes, that
/// is stored or that has one value, before its values are known: for who has no host at hand to
/// write them. The bytes are those of write_archive_header(), write_frame_header() and
/// write_archive_footer(); numbers of variable length have a draft for each length.
struct ArchiveDraft {
  static constexpr unsigned most_size_bytes = 5;  ///< of a varint: sizes below 2^35

  DraftBytes header;                   ///< of the archive; the hash of what may differ is its end
  DraftBytes coded[most_size_bytes];   ///< tables, by the bytes of the size of the codes
  DraftBytes stored;                   ///< a table
  DraftBytes constant;                 ///< another one
  DraftBytes footer[most_size_bytes];  ///< by the bytes of the frame's size, which are the first

  std::uint32_t mode_at;  ///< in `header`; both bounds follow it
  std::uint32_t min_at;   ///< in tables; the maximum follows it
  std::uint32_t half_step_at;

  ByteCount index_bytes;  ///< of a coded frame
  ByteCount value_bytes;
  ByteCount constant_bytes;  ///< of the payload of a constant frame: its value, over and over

  /// For archives with this header, of one frame, without fill values.
  static ArchiveDraft of(const ArchiveHeader& header);

  // A table ends with the size of the last section, the hash of the payload, and the table's own.
  static constexpr std::uint32_t hash_bytes = sizeof(std::uint64_t);
  static constexpr std::uint32_t payload_hash_before_end = 2 * hash_bytes;
  static constexpr std::uint32_t kind_at = frame_prefix_bytes + 1;  ///< in tables
};

}  // namespace cuszi
