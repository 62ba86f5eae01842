#include "core/field/radius.hpp"

#include <cmath>

#include "core/field/quantizer.hpp"

namespace cuszi {

std::uint32_t choose_radius(const PredictorConfig& config, const ErrorOctaves& errors,
                            double step) {
  // Outliers cost about 50 bits: 2 in 8192 add about 0.01 bit per value.
  constexpr std::uint32_t tolerated = 2;
  constexpr std::uint32_t smallest = 512;
  if (config.radius) return *config.radius;
  std::uint32_t radius = smallest;
  while (radius < max_radius && errors.beyond(step * (radius - 1)) > tolerated) radius *= 2;
  return radius;
}

std::uint32_t read_radius(ByteReader& in) {
  const std::uint64_t radius = in.varint();
  if (radius == 0 || radius > max_radius) {
    throw ArchiveError("a radius of " + std::to_string(radius) + " is not in 1 to 32768");
  }
  return static_cast<std::uint32_t>(radius);
}

double read_half_step(ByteReader& in, DType dtype) {
  const auto half_step = in.get<double>();
  if (!is_usable_half_step(half_step, dtype)) {
    throw ArchiveError("a quantiser's step is not a positive number of the field's type");
  }
  return half_step;
}

}  // namespace cuszi
