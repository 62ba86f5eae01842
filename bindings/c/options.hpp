#pragma once

#include <optional>

#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

// Validates structs. Functions throw UsageError with member, value and what is accepted.

/// Completes older, shorter versions; refuses longer ones.
cuszi_options read_options(const cuszi_options* options);

/// As field_settings(); 0 is no bound if zfp's mode needs none.
FieldSettings checked_settings(const cuszi_options& options);

/// `options` may be of an older version.
void set_option(cuszi_options* options, const char* name, const char* text);

Preview preview_of(const cuszi_part* part, const FieldCuts& plan);
FieldLayout field_layout(const cuszi_field* field);

cuszi_field field_of(DType dtype, const Dims& dims);

}  // namespace cuszi::api
