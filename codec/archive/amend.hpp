#pragma once

#include <optional>
#include <span>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"

namespace cuszi {

/// A field that was compressed, in part as it is in another archive.
struct AmendedField {
  std::vector<std::byte> archive;
  std::vector<FillWarning> warnings = {};
};

/// Compresses a field of which a part is as archives of the same shape and settings restore it:
/// these points keep their values bit for bit, the others are within the bound, which must not
/// refer to the field's range. The archive that has most of them is amended. A field that is as the
/// archive restores it becomes the archive. Nothing if no point is, but missing ones. The result is
/// at most most_amendment_bytes larger than a plain archive can be. Throws as compress_field() and
/// restore_field() do.
std::optional<AmendedField> amend_field(Backends& backends, const FieldSettings& settings,
                                        const FieldLayout& layout, Bytes values,
                                        std::span<const Bytes> archives);

}  // namespace cuszi
