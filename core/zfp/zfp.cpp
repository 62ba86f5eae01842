#include "core/zfp/zfp.hpp"

#include <algorithm>
#include <cmath>

namespace cuszi {

ZfpParams ZfpParams::accuracy(double tolerance) {
  ZfpParams params;
  if (tolerance > 0) {
    int exponent = 0;
    std::frexp(tolerance, &exponent);
    params.min_exponent = exponent - 1;  // of the power of two at or below
  }
  return params;
}

ZfpParams ZfpParams::precision(std::uint32_t planes) {
  ZfpParams params;
  params.max_precision = std::clamp(planes, std::uint32_t{1}, most_planes);
  return params;
}

ZfpParams ZfpParams::rate(double bits_per_value, int rank, std::uint32_t exponent_bits) {
  const double bits = std::floor(bits_per_value * zfp_block_values(rank) + 0.5);
  const double least = exponent_bits == 0 ? 1 : 1 + exponent_bits;
  ZfpParams params;
  params.max_bits = static_cast<std::uint32_t>(std::clamp(bits, least, double{most_bits}));
  params.min_bits = params.max_bits;
  return params;
}

ZfpParams ZfpParams::reversible() {
  ZfpParams params;
  params.min_exponent = least_exponent - 1;
  return params;
}

std::optional<std::string> zfp_fault(const ZfpParams& params, int head_bits) {
  if (params.min_bits > params.max_bits || params.max_bits > ZfpParams::most_bits) {
    return "blocks of " + std::to_string(params.min_bits) + " to " +
           std::to_string(params.max_bits) + " bits";
  }
  if (params.max_precision < 1 || params.max_precision > ZfpParams::most_planes) {
    return std::to_string(params.max_precision) + " bit planes";
  }
  if (params.max_bits < static_cast<std::uint32_t>(std::max(head_bits, 1))) {
    return "blocks of " + std::to_string(params.max_bits) + " bits, fewer than their heads of " +
           std::to_string(head_bits);
  }
  if (params.min_exponent < ZfpParams::least_exponent && params.min_bits > 1) {
    return "reversible blocks of at least " + std::to_string(params.min_bits) + " bits";
  }
  return std::nullopt;
}

}  // namespace cuszi
