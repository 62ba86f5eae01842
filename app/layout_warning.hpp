#pragma once

#include <string>

#include "codec/field_source.hpp"
#include "core/mask.hpp"

namespace cuszi::app {

/// What to tell the user if a field, whose first frame has been read, looks as if it had its dims
/// in another order or were of the other byte order; else nothing.
std::string layout_warning(FieldSource& field, const FillValues& fills);

}  // namespace cuszi::app
