#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"
#include "core/multilevel/lattice.hpp"
#include "core/multilevel/taps.hpp"

namespace cuszi {

/// Fitted weights of all tap groups but the first, in units of 2^-coefficient_bits; the first
/// completes their sum to 1. Empty: the cubic preset.
using Coefficients = std::vector<std::int16_t>;
inline constexpr int coefficient_bits = 10;

/// Total weight of each group; the sum is 1.
using StencilWeights = std::array<double, Stencil::most_groups>;

/// In 64ths.
inline constexpr double max_level_factor = 3.98;

/// MultilevelParams::snap is in units of half step / snap_units, at most snap_units.
inline constexpr std::uint8_t snap_units = 16;

/// `multilevel` (docs/design/multilevel.md) refines a lattice of anchors level by level. The new
/// points of a level fall into classes by their odd coordinates; a fitted stencil predicts each
/// class from known points. Schedule and plans follow from these parameters.
struct MultilevelParams {
  static constexpr PredictorId id = PredictorId::multilevel;
  static constexpr std::string_view name = "multilevel";
  static constexpr bool has_own_coder = false;
  static constexpr bool codes_missing_points = false;

  Lattice lattice;
  int reach = 3;            ///< 3, 5 or 7: the farthest tap along odd axes
  std::uint8_t alpha = 80;  ///< level-wise bounds, in 64ths: e_l = e_1 / min(alpha^(l-1), beta)
  std::uint8_t beta = 128;
  double half_step = 0;  ///< of level 1
  std::uint8_t snap =
      0;  ///< predictions snap to `background` within this many 16ths of a half step
  double background = 0;        ///< prediction of anchors unless snap is 0; a value of the dtype
  bool split_contexts = false;  ///< points with their own bounds have separate contexts
  std::uint32_t radius = max_radius;
  std::vector<Coefficients> coefficients;  ///< by class in schedule order; may be empty

  /// Roles of axes with one index have no effect. Throws UsageError for an axis that does not exist
  /// and factors out of range.
  static MultilevelParams draft(const PredictorConfig& config, const Dims& dims);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  /// Small coarse levels share a part of the payload.
  std::vector<int> level_of_pass() const;
  bool is_usable(DType dtype) const;
  double half_step_of(int level) const { return half_step_of(level, half_step); }
  double half_step_of(int level, double first) const;
  double snap_radius_of(int level) const { return half_step_of(level) * snap / snap_units; }

  /// See Lattice::at_stride().
  MultilevelParams at_stride(std::uint64_t stride) const;

  StencilWeights shares_of(const PointClass& points, const Stencil& stencil) const;

  void write(ByteWriter& out) const;
  static MultilevelParams read(ByteReader& in, const Dims& dims, DType dtype);

  friend bool operator==(const MultilevelParams&, const MultilevelParams&) = default;
};

CUSZI_HD inline double share_of(int coefficient) {
  return static_cast<double>(coefficient) / (1 << coefficient_bits);
}

/// Needs coefficients.
CUSZI_HD inline StencilWeights fitted_shares(const std::int16_t* fitted, const Stencil& stencil) {
  StencilWeights shares{};
  int first = 1 << coefficient_bits;
  for (unsigned g = 1; g < stencil.size; ++g) {
    shares[g] = share_of(fitted[g - 1]);
    first -= fitted[g - 1];
  }
  shares[0] = share_of(first);
  return shares;
}

/// The preset's if there are no coefficients.
StencilWeights shares_of(const Coefficients& coefficients, const PointClass& points,
                         const Stencil& stencil);

StencilWeights preset_shares(const PointClass& points, const Stencil& stencil);

/// Throws UsageError unless the axis exists and, for roles other than lattice, is longer than 1.
/// Check before a field is cut into frames.
void check_axes(const AxisChoice& choice, const Dims& dims);

}  // namespace cuszi
