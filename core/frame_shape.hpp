#pragma once

#include <cstdint>

#include "core/dims.hpp"
#include "core/dtype.hpp"
#include "core/units.hpp"

namespace cuszi {

/// What a frame's values are: their type and their extents.
struct FrameShape {
  DType dtype = DType::f32;
  Dims dims;

  std::uint64_t points() const { return dims.count(); }
  ByteCount bytes() const { return points() * size_of(dtype); }
  Extents3 extents() const { return dims.as_3d(); }
};

}  // namespace cuszi
