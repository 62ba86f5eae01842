#pragma once

#include <string>

#include "codec/field/field_source.hpp"
#include "core/field/mask.hpp"

namespace cuszi::app {

/// What looks wrong with a field's layout; without a text, nothing does.
struct LayoutWarning {
  std::string text = {};
  bool values_look_swapped = false;  ///< which makes a relative bound meaningless
};

/// Whether a field, whose first frame has been read, looks as if it had its dims in another order
/// or were of the other byte order.
LayoutWarning layout_warning(FieldSource& field, const FillValues& fills);

}  // namespace cuszi::app
