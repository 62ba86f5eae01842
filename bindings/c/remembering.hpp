#pragma once

#include <optional>

#include "codec/archive/amend.hpp"
#include "codec/archive/remembered_archives.hpp"
#include "codec/field/field_name.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

// What the member `remember` of cuszi_options comes to.

/// Whether amend_remembered() has archives to compare such a field with.
bool may_be_amended(const cuszi_options& options, const FieldLayout& layout);

/// Remembers an archive that was restored to `values`, both in the host's memory or a device's, if
/// the options say so.
void remember(const cuszi_options& options, const FieldLayout& layout, Bytes archive, Bytes values);

/// Compresses a field, in the host's memory or a device's, that is in part as a remembered archive
/// restores it. Nothing if the options say otherwise or no archive is alike.
std::optional<AmendedField> amend_remembered(Backends& backends, const cuszi_options& options,
                                             const FieldSettings& settings,
                                             const FieldLayout& layout, Bytes values);

}  // namespace cuszi::api
