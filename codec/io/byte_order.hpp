#pragma once

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

enum class ByteOrder { little, big };

/// Converts between `order` and native order, in place.
void to_native(MutableBytes values, DType dtype, ByteOrder order);

}  // namespace cuszi
