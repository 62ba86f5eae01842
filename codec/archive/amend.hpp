#pragma once

#include <optional>
#include <span>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"

namespace cuszi {

struct AmendedField {
  std::vector<std::byte> archive;
  std::vector<FillWarning> warnings = {};
};

/// Compresses a field that shares points with one of `archives`, of equal shape and settings.
/// Shared points keep their bits; the bound of others must not depend on the range. Amends the
/// archive with most shared points, or returns it unchanged; nullopt if only missing points are
/// shared. Adds at most most_amendment_bytes to a plain archive's size. Throws as compress_field()
/// and restore_field().
std::optional<AmendedField> amend_field(Backends& backends, const FieldSettings& settings,
                                        const FieldLayout& layout, Bytes values,
                                        std::span<const Bytes> archives);

}  // namespace cuszi
