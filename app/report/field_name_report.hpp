#pragma once

#include <optional>
#include <string>

#include "app/cli/json.hpp"
#include "core/base/dtype.hpp"

namespace cuszi::app {

/// What a raw field's name says, and whether that agrees with the size of the file, if it is there:
/// type and dims are null where nothing says them, `failure` tells why. `dtype` goes before the
/// name.
Json describe_field_name(const std::string& name, std::optional<DType> dtype);

/// The description that describe_field_name() returns, as a line for people.
std::string field_name_text(const Json& description);

}  // namespace cuszi::app
