#include "core/transform/transform.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/param_table.hpp"

namespace cuszi {

namespace {

/// The middle of the sample's logarithms.
LogTransform log_transform_for(const std::vector<double>& sample) {
  int least = std::numeric_limits<int>::max();
  int most = std::numeric_limits<int>::min();
  for (const double value : sample) {
    if (value == 0 || !std::isfinite(value)) continue;
    least = std::min(least, std::ilogb(value));
    most = std::max(most, std::ilogb(value));
  }
  return {static_cast<std::int16_t>(least > most ? 0 : (least + most + 1) / 2)};
}

/// Half the spacing of values of the type at the largest magnitude that the sample comes to.
template <class T>
double rounding_of(const LogTransform& transform, const std::vector<double>& sample) {
  double largest = 1;
  for (const double value : sample) {
    if (value == 0 || !std::isfinite(value)) continue;
    largest = std::max(largest, std::fabs(transform.forward<T>(std::fabs(value))));
  }
  return std::ldexp(1.0, std::ilogb(largest) - std::numeric_limits<T>::digits);
}

}  // namespace

std::string_view name_of(const TransformParams& params) {
  return std::visit([](const auto& row) { return row.name; }, params);
}

void write_transform(const TransformParams& params, ByteWriter& out) {
  std::visit(
      [&](const auto& row) {
        out.put(row.id);
        row.write(out);
      },
      params);
}

TransformParams read_transform(ByteReader& in) {
  return with_row<TransformParams>(
      in.get<TransformId>(), "transform",
      [&](auto row) -> TransformParams { return decltype(row)::read(in); });
}

TransformChoice choose_transform(double share, DType dtype, const std::vector<double>& sample) {
  const LogTransform transform = log_transform_for(sample);
  const double rounding = with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    return rounding_of<T>(transform, sample);
  });
  const double of_value = dtype == DType::f32 ? 0x1p-23 : 0x1p-48;  // and of the functions
  const double most = log2_of_value<double>(1 + share) * (1 - 0x1p-40) - of_value;
  return {transform, std::max(most - rounding, 0.0), rounding};
}

void FrameTransform::write(ByteWriter& out) const {
  write_transform(params, out);
  out.put(min);
  out.put(max);
  out.varint(kept);
}

FrameTransform FrameTransform::read(ByteReader& in) {
  FrameTransform transform;
  transform.params = read_transform(in);
  transform.min = in.get<double>();
  transform.max = in.get<double>();
  transform.kept = in.varint();
  if (!std::isfinite(transform.min) || !std::isfinite(transform.max) ||
      transform.min > transform.max) {
    throw ArchiveError("a frame's transformed range is impossible");
  }
  return transform;
}

}  // namespace cuszi
