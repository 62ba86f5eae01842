#pragma once

#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

struct FrameShape {
  DType dtype = DType::f32;
  Dims dims;

  std::uint64_t points() const { return dims.count(); }
  ByteCount bytes() const { return points() * size_of(dtype); }
  /// The shape that predictors see: of the work type.
  FrameShape work() const { return {work_of(dtype), dims}; }
  Extents3 extents() const { return dims.as_3d(); }
};

}  // namespace cuszi
