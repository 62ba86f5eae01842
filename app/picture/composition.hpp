#pragma once

#include <cstdint>
#include <string>

#include "app/picture/figure.hpp"
#include "app/picture/shown_field.hpp"
#include "core/field/bound.hpp"

namespace cuszi::app {

/// What is seen of the points that are shown.
struct Sight {
  ValueRange range;              ///< of a field and, if there is one, its original
  std::uint64_t points = 0;      ///< of the field
  std::uint64_t missing = 0;     ///< among them
  double largest_error = 0;      ///< absolute
  std::uint64_t over_bound = 0;  ///< points over the bound, or missing on one side alone
};

Sight sight_of(const ShownField& shown);

/// The slice in words: "z = 50"; nothing where it is the whole field.
std::string slice_name(const Slice& slice, const Dims& dims);

/// The steps between points that are shown: "1x2x2".
std::string step_text(const SlicePlan& plan);

/// The figure of a field called `name`: its slices in one scale of colours, or of each slice the
/// original, what is restored, and the error in units of the bound (without one, of the largest
/// error).
Figure compose(const ShownField& shown, const Sight& sight, const std::string& name,
               std::size_t across);

}  // namespace cuszi::app
