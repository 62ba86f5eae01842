#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/archive/archive.hpp"
#include "core/base/units.hpp"
#include "core/field/selection.hpp"
#include "core/field/value_grid.hpp"

namespace cuszi {

/// What an amended archive begins with. It consists of this header; an archive, the *base*, whole
/// and byte for byte as it was before; a list of *exact values*; and another archive, the *inner*
/// one, of the points of a box that have changed since.
struct Amendment {
  ByteCount base_bytes = 0;
  Dims dims;               ///< of the box
  Box box;                 ///< in the base's field
  ValueGrid grid;          ///< to which the values of the inner archive are moved
  std::uint64_t hole = 0;  ///< the bits that inner values have where the base's hold
  ByteCount exact_bytes = 0;
  std::uint64_t exact_hash = 0;
  ByteCount inner_bytes = 0;  ///< 0: the exact values are all that has changed

  /// What follows the header.
  ByteCount bytes() const { return base_bytes + exact_bytes + inner_bytes; }
};

/// The most bytes that an amendment without a base's and inner archive's frames adds to the values.
inline constexpr ByteCount most_amendment_bytes = 1024;

/// Writes the header of an amended archive, with its prefix in front and its hash behind.
std::vector<std::byte> write_amended_header(const Amendment& amendment);

/// Reads a header from the bytes behind the prefix, if it is one of an amended archive. Throws
/// ArchiveError.
std::optional<Amendment> read_amended_header(Bytes bytes);

/// Throws ArchiveError unless an amendment fits the field of its base, and is large enough for the
/// points of its box.
void check_amendment(const Amendment& amendment, const ArchiveHeader& base);

}  // namespace cuszi
