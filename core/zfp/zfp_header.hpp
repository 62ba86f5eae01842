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

enum class ZfpScalar : std::uint8_t { i32, i64, f32, f64 };

std::string_view name_of(ZfpScalar scalar);
ZfpScalar zfp_scalar_of(DType dtype);
/// nullopt for integers.
std::optional<DType> archived_type(ZfpScalar scalar);

/// A zfp stream's header.
struct ZfpHeader {
  ZfpScalar scalar = ZfpScalar::f32;
  Dims dims;
  ZfpParams params;
};

/// The first bit is the lowest.
struct ZfpHeaderBits {
  std::array<std::uint64_t, 3> words{};
  BitCount count = 0;
};

/// ZFP_HEADER_FULL. Throws UsageError if an extent does not fit.
ZfpHeaderBits write_zfp_header(const ZfpHeader& header);

/// Leaves `in` behind the header. Throws ArchiveError.
ZfpHeader read_zfp_header(ZfpBitReader<const std::uint64_t*>& in);

}  // namespace cuszi
