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

/// Header of an archive (docs/reference/format.md). Frames follow it, then a footer with their
/// sizes, for random access.
struct ArchiveHeader {
  DType dtype = DType::f32;
  ErrorMode mode = ErrorMode::relative;
  double bound_asked = 0;     ///< as given, in the sense of `mode`
  double bound_absolute = 0;  ///< the largest absolute error, or no_bound
  double share_asked = 0;     ///< relative to each value, with bound_asked
  FillValues fills;
  FieldCuts plan;  ///< holds the field's dims

  ValueBound value_bound() const {
    const bool goes_with_values = mode >= ErrorMode::pointwise;
    return goes_with_values ? cuszi::value_bound({bound_asked, mode, share_asked}, {})
                            : bound_absolute;
  }
};

inline constexpr std::uint16_t format_version = 1;

/// The prefix: magic, version and the header's size.
inline constexpr ByteCount archive_prefix_bytes = 12;

/// Limit of a header with its prefix.
inline constexpr ByteCount most_header_bytes = 512;

/// Includes prefix and hash.
std::vector<std::byte> write_archive_header(const ArchiveHeader& header);

/// Feature bits of an archive that readers must know; the header names each.
inline constexpr std::uint32_t feature_amended = 1;

void write_amended_feature(ByteWriter& out);

/// Reads the feature bits and names. Throws ArchiveError for unknown ones.
std::uint32_t read_features(ByteReader& in);

/// Adds prefix and hash.
std::vector<std::byte> write_header(Bytes body);

/// The body of a header without its prefix. Throws ArchiveError if its hash does not match.
Bytes read_header_body(Bytes bytes);

bool begins_archive(Bytes bytes);
/// begins_archive() for a file's first bytes, which may be fewer than the magic.
bool may_begin_archive(Bytes bytes);

/// Returns the size of the header that follows. Throws ArchiveError if this is not an archive.
ByteCount read_archive_prefix(Bytes prefix);

/// Reads a header, without its prefix. Throws ArchiveError.
ArchiveHeader read_archive_header(Bytes bytes);

/// The trailer at the end of a file: the footer's size and magic.
inline constexpr ByteCount archive_trailer_bytes = 12;

/// Writes footer, hash and trailer. `frame_bytes` are the sizes of frames with their headers.
std::vector<std::byte> write_archive_footer(const std::vector<ByteCount>& frame_bytes);

/// Returns the footer's size, trailer included. Throws ArchiveError.
ByteCount read_archive_trailer(Bytes trailer);

/// Returns the size of each frame, as many as the footer holds. Throws ArchiveError.
std::vector<ByteCount> read_archive_footer(Bytes footer);

}  // namespace cuszi
