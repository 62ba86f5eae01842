#pragma once

#include <optional>

#include "codec/archive/amend.hpp"
#include "codec/archive/remembered_archives.hpp"
#include "codec/field/field_name.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

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
