#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/cli/options.hpp"
#include "codec/io/byte_source.hpp"
#include "codec/settings/limits.hpp"
#include "core/field/config.hpp"

namespace cuszi::app {

/// Keeps insertion order.
using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// On the command line and in reports.

constexpr std::string_view name_of(ByteOrder order) {
  return order == ByteOrder::little ? "little" : "big";
}

constexpr std::string_view name_of(Cubic cubic) {
  return cubic == Cubic::natural ? "natural" : "not-a-knot";
}

constexpr std::string_view name_of(Lossless lossless) {
  return lossless == Lossless::bitcomp ? "bitcomp" : "none";
}

constexpr std::string_view name_of(IndexKind kind) {
  const std::string_view names[] = {"none", "offset", "length", "hybrid"};
  return names[static_cast<unsigned>(kind)];
}

constexpr std::string_view name_of(AxisRole role) {
  const std::string_view names[] = {"lattice", "independent", "layered"};
  return names[static_cast<unsigned>(role)];
}

}  // namespace cuszi::app
