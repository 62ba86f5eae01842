#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace cuszi::app {

/// Keeps insertion order.
using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace cuszi::app
