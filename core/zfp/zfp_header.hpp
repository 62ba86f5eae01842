#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/zfp/zfp.hpp"
#include "core/zfp/zfp_bits.hpp"

namespace cuszi {

/// The types of values that zfp knows, in the order of its headers.
enum class ZfpScalar : std::uint8_t { i32, i64, f32, f64 };

std::string_view name_of(ZfpScalar scalar);
ZfpScalar zfp_scalar_of(DType dtype);
/// The type that archives have for it; none for integers.
std::optional<DType> archived_type(ZfpScalar scalar);

/// What a zfp stream may begin with: all that it takes to decode it.
struct ZfpHeader {
  ZfpScalar scalar = ZfpScalar::f32;
  Dims dims;
  ZfpParams params;
};

/// A header's bits, as zfp's bit streams hold them: the first in the lowest place.
struct ZfpHeaderBits {
  std::array<std::uint64_t, 3> words{};
  BitCount count = 0;
};

/// The library's own header (ZFP_HEADER_FULL). Throws UsageError if it cannot hold an extent.
ZfpHeaderBits write_zfp_header(const ZfpHeader& header);

/// Reads a header that write_zfp_header() has written and leaves `in` behind it. Throws
/// ArchiveError.
ZfpHeader read_zfp_header(ZfpBitReader<const std::uint64_t*>& in);

}  // namespace cuszi
