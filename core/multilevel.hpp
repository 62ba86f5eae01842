#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "core/config.hpp"
#include "core/dims.hpp"
#include "core/hd.hpp"
#include "core/quantizer.hpp"
#include "core/sample.hpp"

namespace cuszi {

inline constexpr unsigned max_axes = 4;

/// One number per axis, slowest first, padded with ones (or zeros) in front.
using Index4 = std::array<std::uint64_t, max_axes>;

/// The fitted weights of a class's tap groups but the first, in units of 2^-coefficient_bits; the
/// first makes their sum 1. Empty: the class uses the cubic preset.
using Coefficients = std::vector<std::int16_t>;
inline constexpr int coefficient_bits = 10;

/// The most that alpha and beta, in 64ths, can be.
inline constexpr double max_level_factor = 3.98;

/// `multilevel` (docs/multilevel.md): a lattice of anchors over the whole array is refined level by
/// level; the new points of a level fall into classes by which of their coordinates are odd, and
/// each class is predicted by a fitted stencil of points known before. Everything that compression
/// and decompression do follows from these parameters: they make the schedule.
struct MultilevelParams {
  static constexpr PredictorId id = PredictorId::multilevel;
  static constexpr std::string_view name = "multilevel";
  static constexpr bool codes_itself = false;
  static constexpr bool codes_missing_points = false;  ///< they stand in no stream

  Index4 extents{};     ///< of the frame as the axes below see it; follows from dims and `merged`
  bool merged = false;  ///< the two slowest of four axes count as one
  std::array<AxisRole, max_axes> roles{};
  int levels = 0;        ///< level l has spacing 2^(l-1) along lattice axes; anchors have 2^levels
  int finest = 1;        ///< the last level; a preview does without the others
  int lattice_rank = 0;  ///< lattice axes longer than 1
  int slice_levels = 0;  ///< of a layered axis: whole slices every 2^slice_levels come first
  int reach = 3;         ///< 3, 5 or 7: the farthest tap along an odd axis
  std::uint8_t alpha = 80;  ///< level-wise bounds, in 64ths: e_l = e_1 / min(alpha^(l-1), beta)
  std::uint8_t beta = 128;
  double half_step = 0;  ///< of level 1
  double slack = 1;      ///< of the bound over the half step; the encoder's, not in archives
  std::uint32_t radius = max_radius;
  std::vector<Coefficients> coefficients;  ///< of the classes in the schedule's order

  /// The same for every stride-th point along lattice axes alone: what the levels of that spacing
  /// and coarser ones restore. `stride` is a power of two, at most 2^levels.
  MultilevelParams at_stride(std::uint64_t stride) const;

  /// Sets extents, levels and slice levels for these axes of a frame.
  void set_axes(const Dims& dims, bool merge, const std::array<AxisRole, max_axes>& axis_roles);

  /// What a frame's dims and the user's choices say. A forced role of an axis that has one index
  /// in this frame has no effect. Throws UsageError if there is no such axis, or factors are out of
  /// range.
  static MultilevelParams draft(const PredictorConfig& config, const Dims& dims);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  /// The part of the payload that a pass belongs to; small coarse levels share one.
  std::vector<int> level_of_pass() const;
  bool is_usable(DType dtype) const;
  double half_step_of(int level) const;

  void write(ByteWriter& out) const;
  static MultilevelParams read(ByteReader& in, const Dims& dims, DType dtype);
};

/// Throws UsageError unless the axis exists in a field of these dims and, if its role is not that
/// of a lattice axis, is longer than 1. To be asked before a field is cut into frames.
void check_axes(const AxisChoice& choice, const Dims& dims);

/// Points that do not depend on each other and are predicted by one stencil: a sub-lattice.
struct PointClass {
  Index4 first{};
  Index4 step{};
  Index4 count{};
  Index4
      unit{};  ///< points per unit of a tap: the level's spacing, the distance to enclosing slices
  std::uint64_t start = 0;  ///< how many points of the pass come before
  std::uint32_t index = 0;  ///< among all classes
  std::uint32_t group = 0;  ///< classes of one order and stage share their contexts
  std::uint8_t level = 0;
  std::uint8_t order = 0;  ///< how many coordinates are odd; 0 for anchors
  std::uint8_t odd = 0;    ///< bit a: coordinate a is an odd multiple of the spacing
  std::uint8_t stage = 0;  ///< of the layered axis
  bool enclosed = false;   ///< slices on both sides are known (on the last one perhaps one)

  std::uint64_t points() const { return count[0] * count[1] * count[2] * count[3]; }
  CUSZI_HD bool is_odd(unsigned axis) const { return ((odd >> axis) & 1U) != 0; }
};

/// Classes that are coded together.
struct Pass {
  int level = 0;
  std::uint32_t groups = 0;
  std::uint64_t points = 0;
  std::vector<PointClass> classes;
};

/// The array that classes index, and how their points are ordered in a pass.
struct Grid {
  Index4 extents{};
  Index4 strides{};
  Index4 tile{};  ///< points of a class are listed tile by tile, so that 64 in a row are near
};

struct Schedule {
  Grid grid;
  std::uint32_t classes = 0;
  std::vector<Pass> passes;
};

/// All passes, coarse to fine; within a level a pass has the classes of which order + stage agree.
Schedule make_schedule(const MultilevelParams& params);

/// A neighbour of a point, in units of its class.
using Tap = std::array<std::int8_t, max_axes>;

/// Taps that share a weight, in the order in which they are added up (by pairs).
using TapGroup = std::vector<Tap>;

/// The stencil of a class: near pairs of the odd axes, far pairs, diagonals, corners, sides,
/// slices.
std::vector<TapGroup> stencil_of(const MultilevelParams& params, const PointClass& points);

/// The weight of each tap of each group: the fitted ones, or the cubic spline's on each odd axis.
std::vector<double> tap_weights(const MultilevelParams& params, const PointClass& points,
                                const std::vector<TapGroup>& stencil);

/// Where the neighbours stand whose codes tell how large a point's code will be.
struct EnergyTaps {
  TapGroup direct;      ///< same level, one coordinate differs
  TapGroup diagonal;    ///< same level, more differ
  TapGroup parent;      ///< coarser levels
  TapGroup same_point;  ///< in the enclosing slices
  TapGroup slices;      ///< around it there
};
EnergyTaps energy_taps(const MultilevelParams& params, const PointClass& points);

/// How far from the prediction, in steps, an error is better not coded in a context where so many
/// codes are 0 and +-1, if the bound is `slack` times the half step: where the bits that this saves
/// are worth its distortion. Half a step is plain rounding.
double thrifty_zone(std::uint64_t zeros, std::uint64_t ones, double slack);

/// The farthest that any tap reaches along each axis, in points.
Index4 margins_of(const PointClass& points, const std::vector<TapGroup>& groups);

}  // namespace cuszi
