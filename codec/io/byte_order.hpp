#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

enum class ByteOrder { little, big };

/// Turns values of `order` into the machine's order, or back, in place.
void to_native(MutableBytes values, DType dtype, ByteOrder order);

}  // namespace cuszi
