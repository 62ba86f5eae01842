#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

struct PairSums {
  double pairs = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;

  void add(const PairSums& other);
  /// From sums in units of 2^from to sums in units of 2^to.
  void rescale(int from, int to);
  /// nullopt if one variable is constant.
  std::optional<double> correlation() const;
};

/// Structure of errors and values. Missing points and restored values that are not finite are
/// excluded. Parts of a field are measured separately and merged in order; pairs and windows do
/// not cross parts.
struct Fidelity {
  std::array<PairSums, Dims::max_rank> neighbours;  ///< errors by axis, in units of 2^exponent
  int exponent = 0;
  double ssim_sum = 0;  ///< over 8 x 8 windows in planes of the two fastest axes
  std::uint64_t ssim_windows = 0;

  void merge(const Fidelity& next);

  /// Lag-1 autocorrelation of errors along an axis.
  std::optional<double> autocorrelation(int axis) const {
    return neighbours.at(static_cast<std::size_t>(axis)).correlation();
  }
  /// Mean structural similarity (Wang et al. 2004), by each plane's value range; nullopt in 1-D and
  /// if all windows have missing points.
  std::optional<double> ssim() const;
};

namespace cpu {

/// Both fields are of `dtype` and `dims`. `max_error` is their largest difference. Independent of
/// the number of threads.
Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills, double max_error);

}  // namespace cpu

}  // namespace cuszi
