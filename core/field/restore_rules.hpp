#pragma once

#include <array>

#include "core/field/mask.hpp"

namespace cuszi {

/// The values C of which every restored value stays on its original's side: below, equal or above.
/// A contour or isosurface of C then cuts the same edges of the grid (marching cubes).
struct IsoValues {
  static constexpr std::size_t max_count = 16;

  std::array<double, max_count> values{};
  std::size_t count = 0;

  /// Throws UsageError beyond max_count.
  void add(double value);
};

/// What a user asks of restored values besides the bound.
struct ValueRules {
  FillValues fills;
  IsoValues isovalues;

  bool any() const { return fills.count != 0 || isovalues.count != 0; }
};

/// The rules of a frame as a kernel tests them: a value that is not missing comes back neither as a
/// fill value, which would make it missing, nor on another side of an isovalue.
template <class T>
struct RestoreRules {
  MissingTest<T> fills;
  IsoValues isovalues;

  RestoreRules() = default;
  /// Takes the rules that can be broken where restored values are clamped to [min, max].
  RestoreRules(const ValueRules& rules, double min, double max)
      : fills(MissingTest<T>(rules.fills).within(min, max)) {
    for (std::size_t i = 0; i < rules.isovalues.count; ++i) {
      const double value = rules.isovalues.values[i];
      if (value >= min && value <= max) isovalues.values[isovalues.count++] = value;
    }
  }

  bool any() const { return fills.count != 0 || isovalues.count != 0; }

  CUSZI_HD bool allow(T original, T restored) const {
    if (fills.is_fill(restored)) return false;
    for (std::size_t i = 0; i < isovalues.count; ++i) {
      if (side_of(original, isovalues.values[i]) != side_of(restored, isovalues.values[i]))
        return false;
    }
    return true;
  }

 private:
  CUSZI_HD static int side_of(T value, double isovalue) {
    const auto exact = static_cast<double>(value);
    return exact < isovalue ? -1 : (exact > isovalue ? 1 : 0);
  }
};

}  // namespace cuszi
