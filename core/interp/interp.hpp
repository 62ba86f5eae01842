#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// G-Interp (cuSZ-i, SC'24, V). A coarse lattice of anchors is stored. Each tile is interpolated in
/// its closed box, which includes the next tiles' nearest points: level by level, axis after axis,
/// by the longest spline that fits the box.
struct InterpParams {
  static constexpr PredictorId id = PredictorId::interp;
  static constexpr std::string_view name = "interp";
  static constexpr int max_levels = 16;
  static constexpr bool has_own_coder = false;
  static constexpr bool codes_missing_points = false;

  Extents3 tile{};           ///< multiples of `anchor`, or 1 along an axis of extent 1
  std::uint32_t anchor = 0;  ///< stride of the anchors, a power of two
  std::array<Cubic, 3> cubic{};
  std::array<std::uint8_t, 3> order{0, 1, 2};  ///< of axes
  std::array<double, max_levels> half_step{};  ///< [level - 1]; level 1 has spacing 1
  std::uint32_t radius = 0;

  CUSZI_HD int levels() const {
    int count = 0;
    while ((std::uint32_t{1} << count) < anchor) ++count;
    return count;
  }

  /// Defaults: 8x8x32 with anchors every 8, 16x16 every 16, 512 every 512. Throws UsageError if the
  /// user's do not fit each other.
  static InterpParams draft(const PredictorConfig& config, const Extents3& extents);
  /// Splines and order by the profile (V-C.2), bounds of levels by eq. 1, radius by the sample.
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  std::vector<int> level_of_pass() const { return {0}; }
  /// False if a quantiser under- or overflows; the frame is then stored losslessly.
  bool is_usable(DType dtype) const;

  void write(ByteWriter& out) const;
  static InterpParams read(ByteReader& in, const Extents3& extents, DType dtype);

  friend bool operator==(const InterpParams&, const InterpParams&) = default;
};

/// Reduction factor of the levels' bounds (eq. 1).
double alpha_for(double relative_bound);

CUSZI_HD inline Extents3 anchor_grid(const InterpParams& params, const Extents3& extents) {
  Extents3 grid{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    grid[axis] = extents[axis] == 1 ? 1 : (extents[axis] - 1) / params.anchor + 1;
  }
  return grid;
}

CUSZI_HD inline Extents3 tile_grid(const InterpParams& params, const Extents3& extents) {
  Extents3 grid{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    grid[axis] = (extents[axis] - 1) / params.tile[axis] + 1;
  }
  return grid;
}

using Extents32 = std::array<std::uint32_t, 3>;

/// `own` is half-open, `box` the closed working box.
struct TileBox {
  Extents3 first;
  Extents32 own;
  Extents32 box;
};

/// `tile` is the tile's index along each axis.
CUSZI_HD inline TileBox tile_box(const Extents3& size, const Extents3& extents,
                                 const Extents3& tile) {
  TileBox result{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::uint64_t first = tile[axis] * size[axis];
    const std::uint64_t left = extents[axis] - first;
    result.first[axis] = first;
    result.own[axis] = static_cast<std::uint32_t>(left < size[axis] ? left : size[axis]);
    result.box[axis] = result.own[axis] + (left > size[axis] ? 1 : 0);
  }
  return result;
}
CUSZI_HD inline TileBox tile_box(const InterpParams& params, const Extents3& extents,
                                 const Extents3& tile) {
  return tile_box(params.tile, extents, tile);
}

struct InterpStage {
  std::uint32_t axis;
  std::uint32_t spacing;
  Extents32 first;
  Extents32 step;
  Extents32 count;  ///< may be 0
};

/// Stage `turn` (0..2). Earlier axes are complete at the level's spacing, later ones at twice that.
CUSZI_HD inline InterpStage interp_stage(const InterpParams& params, const Extents32& box,
                                         int level, int turn) {
  InterpStage stage{};
  stage.spacing = std::uint32_t{1} << (level - 1);
  for (int i = 0; i < 3; ++i) {
    const unsigned axis = params.order[static_cast<unsigned>(i)];
    stage.first[axis] = i == turn ? stage.spacing : 0;
    stage.step[axis] = i < turn ? stage.spacing : 2 * stage.spacing;
    stage.count[axis] = box[axis] <= stage.first[axis]
                            ? 0
                            : (box[axis] - stage.first[axis] - 1) / stage.step[axis] + 1;
    if (i == turn) stage.axis = axis;
  }
  return stage;
}

/// Weights of the neighbours at -3, -1, +1 and +3 spacings.
template <class T>
struct Spline {
  T far_left;
  T left;
  T right;
  T far_right;
};

/// Which neighbours exist; the left one always does.
struct SplineNeighbours {
  bool far_left;
  bool right;
  bool far_right;
};

/// The longest spline through existing neighbours (V-B.1): cubic, quadratic, linear or the left
/// neighbour.
template <class T>
CUSZI_HD inline Spline<T> spline_for(Cubic cubic, const SplineNeighbours& there) {
  if (!there.right) return {0, 1, 0, 0};
  if (there.far_left && there.far_right) {
    if (cubic == Cubic::not_a_knot) {
      return {T(-1.0 / 16), T(9.0 / 16), T(9.0 / 16), T(-1.0 / 16)};
    }
    return {T(-3.0 / 40), T(23.0 / 40), T(23.0 / 40), T(-3.0 / 40)};
  }
  if (there.far_left) return {T(-1.0 / 8), T(6.0 / 8), T(3.0 / 8), 0};
  if (there.far_right) return {0, T(3.0 / 8), T(6.0 / 8), T(-1.0 / 8)};
  return {0, T(0.5), T(0.5), 0};
}

template <class T>
CUSZI_HD inline Spline<T> spline_for(Cubic cubic, std::uint32_t at, std::uint32_t spacing,
                                     std::uint32_t size) {
  return spline_for<T>(cubic, {at >= 3 * spacing, at + spacing < size, at + 3 * spacing < size});
}

/// Neighbours of weight 0 may be any finite value.
template <class T>
CUSZI_HD inline T predict(const Spline<T>& s, T far_left, T left, T right, T far_right) {
  return (s.left * left + s.right * right) + (s.far_left * far_left + s.far_right * far_right);
}

/// Predicts value[0]; neighbours are `stride` apart in memory.
template <class T>
CUSZI_HD inline T predict_on_line(const Spline<T>& s, const T* value, std::ptrdiff_t stride) {
  return predict<T>(s, value[s.far_left != 0 ? -3 * stride : -stride], value[-stride],
                    value[s.right != 0 ? stride : -stride],
                    value[s.far_right != 0 ? 3 * stride : -stride]);
}

/// Fills missing anchors of a row with the previous anchor, else the first valid one, else
/// `middle`.
template <class T>
CUSZI_HD inline void fill_missing_anchors(T* row, const std::uint8_t* missing, std::uint64_t count,
                                          T middle) {
  std::uint64_t first = 0;
  while (first < count && missing[first] != 0) ++first;
  for (std::uint64_t i = 0; i < first; ++i) row[i] = first < count ? row[first] : middle;
  for (std::uint64_t i = first + 1; i < count; ++i) {
    if (missing[i] != 0) row[i] = row[i - 1];
  }
}

/// Prediction error from original values, for sampling; negative for anchors and if a value is
/// missing.
template <class T, class Missing>
CUSZI_HD double sampled_interp_error(const InterpParams& params, const Extents3& extents,
                                     const T* field, const Extents3& at, const Missing& missing) {
  const Extents3 tile{at[0] / params.tile[0], at[1] / params.tile[1], at[2] / params.tile[2]};
  const TileBox box = tile_box(params, extents, tile);
  std::uint32_t spacing = 1;
  int axis = -1;
  for (; spacing < params.anchor && axis < 0; spacing *= 2) {
    for (const std::uint8_t candidate : params.order) {
      if (extents[candidate] > 1 && ((at[candidate] / spacing) & 1) != 0) axis = candidate;
    }
  }
  if (axis < 0) return -1;
  spacing /= 2;
  const auto a = static_cast<unsigned>(axis);
  const auto spline = spline_for<T>(
      params.cubic[a], static_cast<std::uint32_t>(at[a] - box.first[a]), spacing, box.box[a]);
  const Extents3 strides{extents[1] * extents[2], extents[2], 1};
  const T* const value = field + point_at(at, extents);
  const T prediction =
      predict_on_line(spline, value, static_cast<std::ptrdiff_t>(strides[a] * spacing));
  if (missing(*value) || missing(prediction)) return -1;
  return magnitude_of(static_cast<double>(*value) - static_cast<double>(prediction));
}

inline constexpr std::uint64_t spline_sample_points = 64;

/// Point k of the profile's 64 (V-C.1): a uniform 4x4x4, 8x8 or 64 grid, clear of borders where a
/// cubic fits.
CUSZI_HD inline Extents3 spline_sample_point(std::uint64_t k, const Extents3& extents) {
  const int rank = rank_of(extents);
  const std::uint64_t per_axis = rank == 1 ? 64 : rank == 2 ? 8 : 4;
  Extents3 at{};
  for (int i = 2; i >= 0; --i) {
    const auto axis = static_cast<unsigned>(i);
    if (extents[axis] == 1) continue;
    const std::uint64_t position = (2 * (k % per_axis) + 1) * extents[axis] / (2 * per_axis);
    k /= per_axis;
    at[axis] =
        extents[axis] < 7 ? position : clamp_to<std::uint64_t>(position, 3, extents[axis] - 4);
  }
  return at;
}

template <class T, class Missing>
CUSZI_HD void profile_splines(const Extents3& extents, const T* field, const Extents3& at,
                              unsigned axis, const Missing& missing, std::array<double, 2>& sum) {
  const Extents3 strides{extents[1] * extents[2], extents[2], 1};
  const auto stride = static_cast<std::ptrdiff_t>(strides[axis]);
  const T* const value = field + point_at(at, extents);
  for (const std::ptrdiff_t tap : {-3, -1, 0, 1, 3}) {
    if (missing(value[tap * stride])) return;
  }
  for (const Cubic cubic : {Cubic::not_a_knot, Cubic::natural}) {
    const T prediction = predict_on_line(spline_for<T>(cubic, 3, 1, 7), value, stride);
    sum[static_cast<unsigned>(cubic)] +=
        magnitude_of(static_cast<double>(*value) - static_cast<double>(prediction));
  }
}

}  // namespace cuszi
