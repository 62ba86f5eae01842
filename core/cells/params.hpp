#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

inline constexpr unsigned sample_octaves = 32;
/// How many octaves a distance is below the sampled range, at most so many.
CUSZI_HD inline unsigned octave_of(double distance, double range) {
  const auto exponent = [](double x) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52);
  };
  const int below = distance > 0 ? exponent(range) - exponent(distance) : 0x7FF;
  constexpr int most = sample_octaves - 1;
  return static_cast<unsigned>(below < most ? below : most);
}

/// What a sample of a frame's values tells.
struct CellsSample {
  double background = 0;  ///< see background_of()
  double min = 0;
  double max = 0;
  std::uint32_t near_min[sample_octaves] = {};  ///< how many values are so far above the least one
  std::uint32_t near_max[sample_octaves] = {};

  /// Sampled values; those that are missing are not.
  std::uint64_t count() const {
    return std::accumulate(std::begin(near_min), std::end(near_min), std::uint64_t{0});
  }
  double magnitude() const { return std::max(std::fabs(min), std::fabs(max)); }
};

/// Interpolation within tiles, whose codes are coded under the class of their block: the ratio of
/// good compressors for CPUs in steps that a GPU does at the speed of its memory. README.md has the
/// idea, docs/reference/format.md the layout.
struct CellsParams {
  static constexpr PredictorId id = PredictorId::cells;
  static constexpr std::string_view name = "cells";
  static constexpr bool has_own_coder = true;

  /// Rank of tiles: that of the frame, or 2 if the slices of three axes are coded apart.
  int rank = 3;
  double half_step = 0;              ///< of the finest level; 0 if the frame cannot be coded so
  double background = 0;             ///< values are coded less this
  std::optional<double> floor = {};  ///< predictions are made of no values below this
  std::optional<double> ceiling = {};

  static CellsParams draft(const PredictorConfig& /*config*/, const Extents3& extents) {
    return {.rank = rank_of(extents)};
  }
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);
  /// Takes the background, the half step and the limits from a sample, after choose().
  void learn(const CellsSample& sample, double bound, DType dtype);
  bool is_usable(DType dtype) const { return is_usable_half_step(half_step, dtype); }

  /// Every pass is a level of the payload.
  std::vector<int> level_of_pass() const;
  /// The distance of anchors.
  int tile() const { return rank == 3 ? 16 : rank == 2 ? 64 : 4096; }
  /// How many passes restore the points at a stride, a power of two up to tile().
  std::size_t passes_of_stride(std::uint64_t stride) const;

  void write(ByteWriter& out) const;
  static CellsParams read(ByteReader& in, const Extents3& extents, DType dtype);

  friend bool operator==(const CellsParams&, const CellsParams&) = default;
};

/// The half step of the finest level for a bound: the bound less the rounding of values.
double cells_half_step(double bound, double min, double max, DType dtype);

/// Whether a value that comes so often among so many sampled ones may be a background.
CUSZI_HD inline bool is_common(std::uint64_t times, std::uint64_t sampled) {
  return times * 16 >= sampled;
}
/// The background of a frame, given the commonest of its sampled values, the lowest of several: 0
/// unless that is_common().
CUSZI_HD inline double background_of(double commonest, std::uint64_t times, std::uint64_t sampled) {
  return is_common(times, sampled) ? commonest + 0.0 : 0;  // never -0
}
/// What a sample tells, given its values in ascending order, of which none is missing.
CellsSample cells_sample(const std::vector<double>& sorted);

}  // namespace cuszi
