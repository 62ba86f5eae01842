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

/// Whether a field looks as if it had its dims in another order or were of the other byte order. Of
/// a stream only its first frame is looked at, whose values are `first_frame`.
LayoutWarning layout_warning(const FieldSource& field, Bytes first_frame, const FillValues& fills);

}  // namespace cuszi::app
