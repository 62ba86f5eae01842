#pragma once

#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// Lorenzo with dual quantisation (cuSZ, PACT'20, 3.1): values are rounded to integers, then
/// predicted from previous neighbours in a chunk. Deltas are differences along each axis,
/// restoration is partial sums.
struct LorenzoParams {
  static constexpr PredictorId id = PredictorId::lorenzo;
  static constexpr std::string_view name = "lorenzo";
  static constexpr bool has_own_coder = false;
  static constexpr bool codes_missing_points = true;  ///< partial sums include them

  Extents3 chunk{};
  std::uint32_t radius = 0;
  double half_step = 0;

  /// Chunks of 256, 16x16 or 8x8x8.
  static LorenzoParams draft(const PredictorConfig& config, const Extents3& extents);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  std::vector<int> level_of_pass() const { return {0}; }
  /// False if a quantiser under- or overflows; the frame is then stored losslessly.
  bool is_usable(DType dtype) const;

  void write(ByteWriter& out) const;
  static LorenzoParams read(ByteReader& in, const Extents3& extents, DType dtype);

  friend bool operator==(const LorenzoParams&, const LorenzoParams&) = default;
};

/// Magnitude limit of integers: sums of eight are exact.
inline constexpr double max_prequantised = 1125899906842624.0;

struct Prequantised {
  std::int64_t value;
  bool in_range;
};

/// round(value / step) (cuSZ 3.1.2, PREQUANT), in double for both dtypes.
CUSZI_HD inline Prequantised prequantise(double value, double inverse_step) {
  const double scaled = value * inverse_step;
  if (!(magnitude_of(scaled) < max_prequantised)) return {0, false};
  return {nearest_integer(scaled), true};
}

template <class T>
CUSZI_HD inline T dequantise(std::int64_t integer, double step, T min, T max) {
  return clamp_restored<T>(static_cast<T>(static_cast<double>(integer) * step), min, max);
}

/// outlier_code if out of range.
CUSZI_HD inline QuantCode code_of_delta(std::int64_t delta, std::int32_t radius) {
  const bool reached = delta > -radius && delta < radius;
  return reached ? static_cast<QuantCode>(delta + radius) : outlier_code;
}

CUSZI_HD inline std::int64_t delta_of_code(QuantCode code, std::int32_t radius) {
  return static_cast<std::int64_t>(code) - radius;
}

/// Calls add(point's coordinates, whether it is subtracted) for the points of a chunk whose sum is
/// the prediction error.
template <class Add>
CUSZI_HD inline void for_lorenzo_points(const Extents3& at, const Extents3& chunk, const Add& add) {
  constexpr unsigned odd_corners = 0x96;  // of an odd number of axes
  for (unsigned corner = 0; corner < 8; ++corner) {
    Extents3 from = at;
    bool inside = true;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (((corner >> axis) & 1U) == 0) continue;
      if (at[axis] % chunk[axis] == 0)
        inside = false;
      else
        --from[axis];
    }
    if (inside) add(from, (odd_corners >> corner & 1U) != 0);
  }
}

/// Prediction error on original values, for sampling; missing neighbours count as 0.
template <class T, class Missing>
CUSZI_HD double sampled_lorenzo_error(const LorenzoParams& params, const Extents3& extents,
                                      const T* field, const Extents3& at, const Missing& missing) {
  double error = 0;
  for_lorenzo_points(at, params.chunk, [&](const Extents3& from, bool is_subtracted) {
    const T value = field[point_at(from, extents)];
    if (missing(value)) return;
    error += is_subtracted ? -static_cast<double>(value) : static_cast<double>(value);
  });
  return magnitude_of(error);
}

}  // namespace cuszi
