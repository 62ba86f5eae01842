#pragma once

#include <memory>
#include <vector>

#include "core/backend/encode_session.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

// Flat regions inherit the error of the coarse lattice, which biases the field. Predictions near
// the background value snap to it (core/multilevel/class_plan).

struct Background {
  double value = 0;
  bool is_exact = false;        ///< frequent, and within the densest window
  double share = 0;             ///< of values within the bound of `value`
  double frequent = 0;          ///< the most frequent value, the lowest of several
  bool is_common = false;       ///< at least a tenth of the field
  bool has_few_values = false;  ///< other values occur at least 16 times on average
  std::vector<double> sample;   ///< sorted
};

/// `values` are sorted and not missing. The background is the most frequent value, if a twentieth
/// of the sample has it and it is within two bounds of the middle of the densest window of two
/// bounds; else about the mean of that window, as a float if one is close.
Background find_background(std::vector<double> values, double bound, DType dtype);

/// Snaps only to exact backgrounds.
void set_background(const Background& background, MultilevelParams& params);

/// The largest half step, down to 9/10 of `half_step`, whose grid is nearly unbiased (half of
/// most_bias) on the sample; preferably one that restores a common value exactly.
double half_step_for_grid(const Background& background, double half_step);

/// Accepted mean error in bounds.
inline constexpr double most_bias = 0.0499;

/// Predicts all passes. If the mean error exceeds most_bias, larger snaps and shifted background
/// values are tried; `coding` keeps the first unbiased attempt, else the one with the least mean
/// error.
std::unique_ptr<PassEncoder> predict_unbiased(EncodeSession& session, FrameCoding& coding,
                                              PassRange passes, const FrameShape& shape);

}  // namespace cuszi
