#pragma once

#include <optional>

#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

// What stands in the API's structs, checked. Every function throws UsageError, naming the member,
// its value and what would be accepted.

/// The options as this version of the library knows them: the caller's may be shorter. No byte
/// behind those that it knows is read: longer ones are refused.
cuszi_options read_options(const cuszi_options* options);

/// As field_settings(); a bound of 0 is none for modes of zfp that need none.
FieldSettings checked_settings(const cuszi_options& options);

/// Sets an option of the caller's, which may be shorter, to what a text says.
void set_option(cuszi_options* options, const char* name, const char* text);

/// A part of a field that is cut into frames by `plan`.
Preview preview_of(const cuszi_part* part, const FieldCuts& plan);
FieldLayout field_layout(const cuszi_field* field);

cuszi_field field_of(DType dtype, const Dims& dims);

}  // namespace cuszi::api
