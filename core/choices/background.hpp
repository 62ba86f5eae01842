#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend/encode_session.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

// Errors have no direction. In flat regions every point inherits the error of the coarse lattice,
// and where most values lie within the bound of one place, that is the mean error of the field. So
// a frame has a background value, which predictions near it become (core/multilevel/class_plan).

/// What most of a field's values are, or lie around.
struct Background {
  double value = 0;
  bool is_exact = false;   ///< many values are exactly this, and no place has more around it
  double share = 0;        ///< of the values, within the bound of it
  double frequent = 0;     ///< the most frequent value, wherever it lies; the lowest of several
  bool is_common = false;  ///< the frequent value is that of a tenth of the field
  bool has_few_values =
      false;                   ///< others than the frequent one come four times or more in a sample
  std::vector<double> sample;  ///< all this is of, sorted
};

/// From a sample of values that are not missing, in ascending order. The value is the most frequent
/// one if a twentieth of the sample has it and it lies within two bounds of the middle of the
/// densest window of two bounds (the lowest of several); else the mean of that window's values,
/// about: a value of the type, a float where one is near enough.
Background find_background(std::vector<double> values, double bound, DType dtype);

/// Sets the background value, and snaps to it where it is exact.
void set_background(const Background& background, MultilevelParams& params);

/// A half step, at most this one, whose grid (from 0) gives errors no direction: the one of which a
/// common value is an even multiple, so that it is restored exactly, else the largest of some up to
/// a tenth smaller, if it leaves the sample a mean error of no more than half of most_bias.
double half_step_for_grid(const Background& background, double half_step);

/// The share of the bound that mean errors are to stay within: just under a twentieth.
inline constexpr double most_bias = 0.0499;

/// Begins to code the frame with all of its passes predicted. Where the mean error is more than
/// most_bias, predicts again with larger snaps, and for each (if the background value is exact, for
/// the largest alone) with one that is shifted against what is left, and back if that was too far.
/// Attempts whose first passes tell that they will not be even go no further.
/// Leaves `coding` with the first attempt that is even, else with that of the least mean error.
std::unique_ptr<PassEncoder> predict_unbiased(EncodeSession& session, FrameCoding& coding,
                                              PassRange passes, const FrameShape& shape);

}  // namespace cuszi
