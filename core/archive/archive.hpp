#pragma once

#include <cstdint>
#include <vector>

#include "core/archive/frame_plan.hpp"
#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/bound.hpp"
#include "core/field/config.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// What an archive says of the whole field; docs/reference/format.md specifies every byte. The
/// frames follow it, then a footer that lists their sizes, so that one can be read alone, and that
/// a reader of a stream may skip.
struct ArchiveHeader {
  DType dtype = DType::f32;
  ErrorMode mode = ErrorMode::relative;
  double bound_asked = 0;     ///< as the user gave it, in the sense of `mode`
  double bound_absolute = 0;  ///< what no value's error exceeds, or no_bound
  double share_asked = 0;     ///< of each value, besides bound_asked
  FillValues fills;
  FieldCuts plan;  ///< with the field's dims

  /// What each value's error keeps to.
  ValueBound value_bound() const {
    const bool goes_with_values = mode >= ErrorMode::pointwise;
    return goes_with_values ? cuszi::value_bound({bound_asked, mode, share_asked}, {})
                            : bound_absolute;
  }
};

inline constexpr std::uint16_t format_version = 1;

/// Bytes in front of the header that say what the file is and how long the header is.
inline constexpr ByteCount archive_prefix_bytes = 12;

/// Writes an archive's header, with its prefix in front and its hash behind.
std::vector<std::byte> write_archive_header(const ArchiveHeader& header);

/// What an archive can need its readers to know, as bits; each has a name in the header.
inline constexpr std::uint32_t feature_amended = 1;

/// Writes what the header of an amended archive begins with: the feature and its name.
void write_amended_feature(ByteWriter& out);

/// Reads what a header begins with: its features. Throws ArchiveError for those that are not known.
std::uint32_t read_features(ByteReader& in);

/// Writes a header: its prefix, the body and its hash.
std::vector<std::byte> write_header(Bytes body);

/// The body of a header, from the bytes behind the prefix. Throws ArchiveError if the hash that
/// ends them does not match.
Bytes read_header_body(Bytes bytes);

/// Whether a file whose first bytes these are says that it is an archive.
bool begins_archive(Bytes bytes);

/// Reads the prefix: how many bytes of header follow it. Throws ArchiveError if it is not ours.
ByteCount read_archive_prefix(Bytes prefix);

/// Reads an archive's header from the bytes behind the prefix. Throws ArchiveError.
ArchiveHeader read_archive_header(Bytes bytes);

/// Bytes of the trailer at the end of a file, which says where the footer starts.
inline constexpr ByteCount archive_trailer_bytes = 12;

/// Writes the footer, its hash and the trailer of an archive. `frame_bytes` are the sizes of the
/// frames in bytes, their headers included.
std::vector<std::byte> write_archive_footer(const std::vector<ByteCount>& frame_bytes);

/// Reads the trailer: the bytes of the footer, itself included. Throws ArchiveError.
ByteCount read_archive_trailer(Bytes trailer);

/// Reads a footer of `frames` frames: the size of each. Throws ArchiveError.
std::vector<ByteCount> read_archive_footer(Bytes footer, std::uint64_t frames);

}  // namespace cuszi
