#pragma once

#include <cstdint>
#include <vector>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// The bits of a double that is a value of this type, in the lowest bytes.
std::uint64_t bits_of(double value, DType dtype);

/// Section raw of a frame with one value: its bits, as often as it takes to have `least` bytes, but
/// once at least.
std::vector<std::byte> encode_constant(std::uint64_t bits, DType dtype, ByteCount least);

/// Decodes the bits of the one value from section raw, as encode_constant() writes it. Throws
/// ArchiveError if the section holds anything else than one value.
std::uint64_t decode_constant(Bytes raw, DType dtype);

}  // namespace cuszi
