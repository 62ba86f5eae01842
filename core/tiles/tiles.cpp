#include "core/tiles/tiles.hpp"

#include <cmath>

#include "core/field/radius.hpp"

namespace cuszi {

/// The step is less than the bound by what rounding in the field's type may add to the largest
/// value, but not much less: beyond that, large values are patched more often. A sample's largest
/// will do, so that a frame need not be read before it is coded.
void TilesParams::choose(double sampled, double bound, DType dtype) {
  const double rounding = dtype == DType::f32 ? std::ldexp(1.0, -22) : std::ldexp(1.0, -51);
  half_step = bound - std::min(sampled * rounding, bound / 16);
}

TilesParams TilesParams::read(ByteReader& in, const Extents3& /*extents*/, DType dtype) {
  return {read_half_step(in, dtype)};
}

}  // namespace cuszi
