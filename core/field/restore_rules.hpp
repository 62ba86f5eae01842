#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// Restored values stay on their original's side (below, equal, above) of each isovalue, so that
/// marching cubes cuts the same edges.
struct IsoValues {
  static constexpr std::size_t max_count = 16;

  std::array<double, max_count> values{};
  std::size_t count = 0;

  /// Throws UsageError beyond max_count.
  void add(double value) {
    if (count == max_count) {
      throw UsageError("at most " + std::to_string(max_count) + " isovalues are possible");
    }
    values.at(count++) = value;
  }
};

template <class T>
CUSZI_HD inline int side_of(T value, double isovalue) {
  const auto exact = static_cast<double>(value);
  return exact < isovalue ? -1 : (exact > isovalue ? 1 : 0);
}

template <class T>
CUSZI_HD inline bool on_same_sides(const IsoValues& isovalues, T one, T other) {
  for (std::size_t i = 0; i < isovalues.count; ++i) {
    if (side_of(one, isovalues.values[i]) != side_of(other, isovalues.values[i])) return false;
  }
  return true;
}

struct ValueRules {
  FillValues fills;
  IsoValues isovalues;

  CUSZI_HD bool any() const { return fills.count != 0 || isovalues.count != 0; }
};

/// An interval with all values that rules may affect. Empty by default.
template <class T>
struct RuleZone {
  T centre = 0;
  T reach = -1;

  CUSZI_HD bool any() const { return reach >= 0; }
  CUSZI_HD bool has(T value) const {
    const T distance = value - centre;
    return (distance < 0 ? -distance : distance) <= reach;
  }
};

/// Rules of a frame: a valid value must not be restored to a fill value, nor across an isovalue.
template <class T>
struct RestoreRules {
  MissingTest<T> fills;
  IsoValues isovalues;

  RestoreRules() = default;
  /// Drops rules outside the clamping range [min, max].
  RestoreRules(const ValueRules& rules, double min, double max)
      : fills(MissingTest<T>(rules.fills).within(min, max)) {
    for (std::size_t i = 0; i < rules.isovalues.count; ++i) {
      const double value = rules.isovalues.values[i];
      if (value >= min && value <= max) isovalues.values[isovalues.count++] = value;
    }
  }

  CUSZI_HD bool any() const { return fills.count != 0 || isovalues.count != 0; }

  /// A superset of the values within `bound` of a fill or isovalue.
  RuleZone<T> zone(double bound) const {
    if (!any()) return {};
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    const auto include = [&](double value) {
      least = value < least ? value : least;
      most = value > most ? value : most;
    };
    for (std::size_t i = 0; i < fills.count; ++i) include(static_cast<double>(fills.fills[i]));
    for (std::size_t i = 0; i < isovalues.count; ++i) include(isovalues.values[i]);
    const double centre = least / 2 + most / 2;
    const double width = most / 2 - least / 2 + bound;
    // Exceeds the rounding of distances and of the zone.
    const double rounding = 8.0 * std::numeric_limits<T>::epsilon();
    const double reach = width + (std::fabs(centre) + width) * rounding;
    constexpr double largest = std::numeric_limits<T>::max();
    return {static_cast<T>(centre), static_cast<T>(reach < largest ? reach : largest)};
  }

  CUSZI_HD bool allow(T original, T restored) const {
    return !fills.is_fill(restored) && on_same_sides(isovalues, original, restored);
  }
};

}  // namespace cuszi
