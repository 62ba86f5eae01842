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

/// The fitted weights of a class's tap groups but the first, in units of 2^-coefficient_bits; the
/// first makes their sum 1. Empty: the class uses the cubic preset.
using Coefficients = std::vector<std::int16_t>;
inline constexpr int coefficient_bits = 10;

/// What all taps of a group weigh together, for each group of a stencil; the sum is 1.
using StencilWeights = std::array<double, Stencil::most_groups>;

/// The most that alpha and beta, in 64ths, can be.
inline constexpr double max_level_factor = 3.98;

/// MultilevelParams::snap is in units of the half step over this, and at most this.
inline constexpr std::uint8_t snap_units = 16;

/// `multilevel` (docs/design/multilevel.md): a lattice of anchors over the whole array is refined
/// level by level; the new points of a level fall into classes by which of their coordinates are
/// odd, and each class is predicted by a fitted stencil of points known before. Everything that
/// compression and decompression do follows from these parameters: they make the schedule and the
/// plans.
struct MultilevelParams {
  static constexpr PredictorId id = PredictorId::multilevel;
  static constexpr std::string_view name = "multilevel";
  static constexpr bool has_own_coder = false;
  static constexpr bool codes_missing_points = false;  ///< they stand in no stream

  Lattice lattice;
  int reach = 3;            ///< 3, 5 or 7: the farthest tap along an odd axis
  std::uint8_t alpha = 80;  ///< level-wise bounds, in 64ths: e_l = e_1 / min(alpha^(l-1), beta)
  std::uint8_t beta = 128;
  double half_step = 0;   ///< of level 1
  std::uint8_t snap = 0;  ///< predictions nearer to `background` than this many 16ths of their
                          ///< level's half step become `background`
  double background = 0;  ///< what anchors are predicted as, if snap is not 0: a value of the dtype
  bool split_contexts = false;  ///< points with bounds of their own have contexts of their own
  std::uint32_t radius = max_radius;
  std::vector<Coefficients> coefficients;  ///< of the classes in the schedule's order; or none

  /// What a frame's dims and the user's choices say. A forced role of an axis that has one index
  /// in this frame has no effect. Throws UsageError if there is no such axis, or factors are out of
  /// range.
  static MultilevelParams draft(const PredictorConfig& config, const Dims& dims);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  /// The part of the payload that a pass belongs to; small coarse levels share one.
  std::vector<int> level_of_pass() const;
  bool is_usable(DType dtype) const;
  double half_step_of(int level) const { return half_step_of(level, half_step); }
  /// The half step of a level where that of level 1 is another.
  double half_step_of(int level, double first) const;
  double snap_radius_of(int level) const { return half_step_of(level) * snap / snap_units; }

  /// The parameters for every stride-th point along lattice axes alone; see Lattice::at_stride().
  MultilevelParams at_stride(std::uint64_t stride) const;

  /// The shares of a class's groups: by its coefficients, if it has some.
  StencilWeights shares_of(const PointClass& points, const Stencil& stencil) const;

  void write(ByteWriter& out) const;
  static MultilevelParams read(ByteReader& in, const Dims& dims, DType dtype);

  friend bool operator==(const MultilevelParams&, const MultilevelParams&) = default;
};

/// The share that a stored coefficient, or a sum of some, stands for.
CUSZI_HD inline double share_of(int coefficient) {
  return static_cast<double>(coefficient) / (1 << coefficient_bits);
}

/// The shares of a class's groups by coefficients, of which there are some.
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

/// The shares of a class's groups: by these coefficients, or by the preset if there are none.
StencilWeights shares_of(const Coefficients& coefficients, const PointClass& points,
                         const Stencil& stencil);

/// The shares of the cubic spline on each odd axis.
StencilWeights preset_shares(const PointClass& points, const Stencil& stencil);

/// Throws UsageError unless the axis exists in a field of these dims and, if its role is not that
/// of a lattice axis, is longer than 1. To be asked before a field is cut into frames.
void check_axes(const AxisChoice& choice, const Dims& dims);

}  // namespace cuszi
