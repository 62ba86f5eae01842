#include "core/tiles/tiles.hpp"

#include "core/field/radius.hpp"

namespace cuszi {

TilesParams TilesParams::read(ByteReader& in, const Extents3& /*extents*/, DType dtype) {
  return {read_half_step(in, dtype)};
}

}  // namespace cuszi
