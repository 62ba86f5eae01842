#pragma once

#include <optional>

#include "codec/archive/amend.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/archive/remembered_archives.hpp"
#include "codec/field/field_name.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

// Validates structs. Functions throw UsageError with member, value and what is accepted.

/// Completes older, shorter versions; refuses longer ones.
cuszi_options read_options(const cuszi_options* options);

/// field_settings(), where 0 is no bound if zfp's mode needs none.
FieldSettings checked_settings(const cuszi_options& options);

/// `options` may be of an older version.
void set_option(cuszi_options* options, const char* name, const char* text);

Preview preview_of(const cuszi_part* part, const FieldCuts& plan);
FieldLayout field_layout(const cuszi_field* field);

cuszi_field field_of(DType dtype, const Dims& dims);

// Implements cuszi_options::remember.

/// Whether amend_remembered() has candidates.
bool may_be_amended(const cuszi_options& options, const FieldLayout& layout);

/// Remembers an archive if options allow; it and `values` may be in device memory.
void remember(const cuszi_options& options, const FieldLayout& layout, Bytes archive, Bytes values);

/// Amends a remembered archive that shares points with the field; nullopt if none does or options
/// forbid it.
std::optional<AmendedField> amend_remembered(Backends& backends, const cuszi_options& options,
                                             const FieldSettings& settings,
                                             const FieldLayout& layout, Bytes values);

}  // namespace cuszi::api
