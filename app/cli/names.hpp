#pragma once

#include <string_view>

#include "app/cli/options.hpp"
#include "codec/io/byte_order.hpp"
#include "codec/settings/limits.hpp"
#include "core/field/config.hpp"

namespace cuszi::app {

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
