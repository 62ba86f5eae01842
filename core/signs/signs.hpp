#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/cost.hpp"
#include "core/base/dims.hpp"
#include "core/base/lossless.hpp"
#include "core/base/units.hpp"
#include "core/coders/symbol_tables.hpp"
#include "core/signs/sign_lanes.hpp"

namespace cuszi {

struct SignTables {
  SymbolTable of[sign_tables];
};
const SignTables& default_sign_tables();

/// What a section of signs begins with, padded to 4 bytes.
struct SignHead {
  bool is_raw = false;      ///< the bits follow
  bool first_sign = false;  ///< of the frame; a lane that has no state has only this
  SignTables tables{};

  static constexpr ByteCount most_bytes = 512;

  std::vector<std::byte> write() const;
};

/// A section: a head, then bits, or the sizes of segments (u32 each) and these.
struct SignSection {
  SignHead head;
  Bytes bits;
  Bytes sizes;
  Bytes segments;

  /// `begin`: the first SignHead::most_bytes, or all, in host memory. Throws ArchiveError.
  static SignSection read(Bytes section, Bytes begin, const SignGrid& grid);
};

/// Whether bits take no more than symbols of this cost.
CUSZI_HD inline bool are_raw_signs(const SignGrid& grid, Cost cost) {
  const std::uint64_t states = 32 * lanes_of_signs(grid.tiles());
  return (cost >> cost_bits) + states >= grid.points();
}
/// Bytes of the bits of so many points.
constexpr ByteCount raw_sign_bytes(std::uint64_t points) { return ceil_div(points, 32) * 4; }

/// Encodes one section. Bit i % 64 of word i / 64 is point i.
std::vector<std::byte> encode_signs(std::span<const std::uint64_t> signs, const Dims& dims,
                                    const ForEach& for_each);
/// Inverse of encode_signs(). Throws ArchiveError.
std::vector<std::uint64_t> decode_signs(Bytes section, const Dims& dims, const ForEach& for_each);

}  // namespace cuszi
