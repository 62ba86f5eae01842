#pragma once

#include <string>

#include "codec/field_source.hpp"
#include "core/mask.hpp"

namespace cuszi::app {

/// Tells the user in a line if a field, whose first frame has been read, looks as if it had its
/// dims in another order or were of the other byte order. Returns true if the latter, which makes a
/// relative bound meaningless.
bool warn_of_layout(const std::string& name, FieldSource& field, const FillValues& fills);

}  // namespace cuszi::app
