#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/archive/archive.hpp"
#include "core/base/units.hpp"
#include "core/field/selection.hpp"
#include "core/field/value_grid.hpp"

namespace cuszi {

/// The header of an amended archive. It precedes an archive (the *base*), *exact values*, and an
/// archive (the *inner* one) of a box of changed points.
struct Amendment {
  ByteCount base_bytes = 0;
  Dims dims;                          ///< of the box
  Box box;                            ///< in the base's field
  ValueGrid grid;                     ///< of the inner archive's values
  std::optional<std::uint64_t> hole;  ///< bits of inner values where the base's value holds
  ByteCount exact_bytes = 0;
  std::uint64_t exact_hash = 0;
  ByteCount inner_bytes = 0;  ///< 0 if only exact values changed

  ByteCount bytes() const { return base_bytes + exact_bytes + inner_bytes; }
};

/// Upper limit of an amendment's bytes beside the base, the inner frames and the exact values.
inline constexpr ByteCount most_amendment_bytes = 1024;

/// Includes prefix and hash.
std::vector<std::byte> write_amended_header(const Amendment& amendment);

/// Reads a header, without its prefix. Returns nullopt if it is not an amended archive's. Throws
/// ArchiveError.
std::optional<Amendment> read_amended_header(Bytes bytes);

/// Throws ArchiveError unless the box lies in the base's field and the parts are large enough for
/// its points.
void check_amendment(const Amendment& amendment, const ArchiveHeader& base);

}  // namespace cuszi
