#pragma once

#include <optional>
#include <string>

#include "app/cli/json.hpp"
#include "codec/field/field_source.hpp"
#include "core/base/dtype.hpp"
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

/// What a raw field's name says, and whether that agrees with the size of the file, if it is there:
/// type and dims are null where nothing says them, `failure` tells why. `dtype` goes before the
/// name.
Json describe_field_name(const std::string& name, std::optional<DType> dtype);

/// The description that describe_field_name() returns, as a line for people.
std::string field_name_text(const Json& description);

}  // namespace cuszi::app
