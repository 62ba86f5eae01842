#pragma once

#include <optional>
#include <string>

#include "app/cli/json.hpp"
#include "codec/field/field_source.hpp"
#include "core/base/dtype.hpp"
#include "core/field/mask.hpp"

namespace cuszi::app {

/// Empty text: no problem.
struct LayoutWarning {
  std::string text = {};
  bool values_look_swapped = false;  ///< makes a relative bound meaningless
};

/// Checks for wrong dims order or byte order. Of a stream, only `first_frame`.
LayoutWarning layout_warning(const FieldSource& field, Bytes first_frame, const FillValues& fills);

/// Layout by name, checked against the file's size: type and dims are null if unknown, `failure`
/// says why. `dtype` takes precedence.
Json describe_field_name(const std::string& name, std::optional<DType> dtype);

/// As text.
std::string field_name_text(const Json& description);

}  // namespace cuszi::app
