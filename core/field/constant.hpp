#pragma once

#include <cstdint>
#include <vector>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// `value` converted to `dtype`, its bits zero-extended.
std::uint64_t bits_of(double value, DType dtype);

/// The raw section of a constant frame: the value's bits, repeated until at least `least` bytes.
std::vector<std::byte> encode_constant(std::uint64_t bits, DType dtype, ByteCount least);

/// Inverse of encode_constant(). Throws ArchiveError if the values differ.
std::uint64_t decode_constant(Bytes raw, DType dtype);

}  // namespace cuszi
