#include "codec/quality/quality_meter.hpp"

#include <fmt/format.h>

#include <vector>

#include "codec/field/field_source.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/field/metrics.hpp"

namespace cuszi {

namespace {

/// Slowest first: "[3, 0, 17]".
std::string coordinates(const Dims& dims, std::uint64_t point) {
  std::string text;
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    text = fmt::format("{}{}{}", point % dims[axis], text.empty() ? "" : ", ", text);
    point /= dims[axis];
  }
  return '[' + text + ']';
}

/// "0.1", "0.01 of its value", "the larger of 0.1 and 0.01 of its value"
std::string text_of(const ValueBound& bound) {
  using Kind = ValueBound::Kind;
  if (bound.kind == Kind::absolute) return fmt::format("{}", bound.bound);
  std::string share = fmt::format("{} of its value", bound.share);
  if (bound.kind == Kind::share) return share;
  return fmt::format("the {} of {} and {}", bound.kind == Kind::either ? "larger" : "smaller",
                     bound.bound, share);
}

}  // namespace

void QualityMeter::measure(const Dims& dims, Bytes original, Bytes restored,
                           const std::optional<PointBounds>& bounds) {
  const DType dtype = original_->layout().dtype;
  const Quality quality = bounds ? cpu::measure_quality(dtype, original, restored, rules_, *bounds)
                                 : cpu::measure_quality(dtype, original, restored, rules_, bound_);
  bounds ? quality_.merge(quality) : add_quality(quality);
  if (measures_ == Measures::errors) return;
  fidelity_.merge(
      cpu::measure_fidelity(dtype, dims, original, restored, rules_.fills, quality.max_error));
}

void QualityMeter::add_quality(Quality quality) {
  if (!bound_.goes_with_values() && quality.max_error != 0) {
    quality.max_of_bound = quality.max_error / bound_.bound;
  }
  quality_.merge(quality);
}

void QualityMeter::add(Backend& backend, Bytes original, Bytes restored) {
  add_quality(
      backend.measure_quality(original_->layout().dtype, original, restored, rules_, bound_));
}

void QualityMeter::add(std::uint64_t i, Bytes restored) {
  measure(original_->plan().frame_dims(i), original_->frame(i), restored);
}

void QualityMeter::add(std::uint64_t i, const Selection& selection, Bytes restored,
                       const FrameBoundsByPlace* bounds) {
  std::optional<PointBounds> of_points;
  if (bounds != nullptr) of_points = bounds->of_points(selection);
  if (selection.all()) {
    measure(original_->plan().frame_dims(i), original_->frame(i), restored, of_points);
    return;
  }
  std::vector<std::byte> original(restored.size());
  pick(selection, original_->layout().dtype, original_->frame(i), original);
  measure(selection.dims(), original, restored, of_points);
}

void require_within_bound(const QualityMeter& meter, const Dims& dims, std::string_view remedy) {
  const Quality& quality = meter.quality();
  if (!quality.first_bad) return;
  throw BoundError(fmt::format(
      "the value at {} (index {}) differs from the original by more than the bound {} allows "
      "(largest error {}); {}",
      coordinates(dims, *quality.first_bad), *quality.first_bad, text_of(meter.bound()),
      quality.max_error, remedy));
}

void require_same_sides(const QualityMeter& meter, const Dims& dims) {
  const Quality& quality = meter.quality();
  if (!quality.first_crossing) return;
  throw BoundError(fmt::format("{} points cross an isovalue, the first at {} (index {})",
                               quality.crossings, coordinates(dims, *quality.first_crossing),
                               *quality.first_crossing));
}

void require_same_missing(const QualityMeter& meter, const Dims& dims) {
  const Quality& quality = meter.quality();
  if (!quality.first_differ) return;
  throw BoundError(fmt::format(
      "{} points are missing in only one field or have different fill values, the first at {} "
      "(index {})",
      quality.missing_differ, coordinates(dims, *quality.first_differ), *quality.first_differ));
}

}  // namespace cuszi
