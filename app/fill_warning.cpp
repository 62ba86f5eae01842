#include "app/fill_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constant.hpp"
#include "core/sample.hpp"
#include "files/input_field.hpp"

namespace cuszi::app {

namespace {

constexpr std::uint64_t most_samples = 16384;
constexpr std::uint64_t fewest_others = 16;
constexpr double suspicious_distance = 1000;

/// The values of a fixed sample that are not missing, sorted; all of them in a small frame.
std::vector<double> sorted_sample(const LoadedFrame& frame, const FillValues& fills) {
  const std::uint64_t points = frame.shape.points();
  std::vector<std::uint64_t> at(std::min(points, most_samples));
  for (std::uint64_t k = 0; k < at.size(); ++k) {
    at[k] = at.size() == points ? k : sample_point(k, points);
  }
  std::vector<double> sample = frame.values_at(at);
  with_type_of(frame.shape.dtype, [&](auto zero) {
    using T = decltype(zero);
    const MissingTest<T> missing(fills);
    const auto is_missing = [&](double value) { return missing(static_cast<T>(value)); };
    sample.erase(std::remove_if(sample.begin(), sample.end(), is_missing), sample.end());
  });
  std::sort(sample.begin(), sample.end());
  return sample;
}

/// True if `extreme` repeats and lies far from the others, which lie within [low, high].
bool is_suspicious(double extreme, std::size_t repeats, std::size_t others, double low,
                   double high) {
  const double distance = extreme < low ? low - extreme : extreme - high;
  return repeats > 1 && others >= fewest_others && high > low &&
         distance > suspicious_distance * (high - low);
}

std::optional<double> suspect(const std::vector<double>& sample) {
  if (sample.empty()) return std::nullopt;
  const double min = sample.front();
  const double max = sample.back();
  const auto above_min = std::upper_bound(sample.begin(), sample.end(), min);
  const auto first_max = std::lower_bound(sample.begin(), sample.end(), max);
  if (above_min == sample.end()) return std::nullopt;
  const auto size = [](auto first, auto last) { return static_cast<std::size_t>(last - first); };
  if (is_suspicious(max, size(first_max, sample.end()), size(sample.begin(), first_max), min,
                    *(first_max - 1))) {
    return max;
  }
  if (is_suspicious(min, size(sample.begin(), above_min), size(above_min, sample.end()), *above_min,
                    max)) {
    return min;
  }
  return std::nullopt;
}

/// A value that looks as if it meant "missing": the least or the greatest of a sample of the frame
/// if it repeats and lies a thousand times further from the others than they from each other.
std::optional<std::string> suspected_fill_value(const LoadedFrame& frame, const FillValues& fills) {
  const std::optional<double> value = suspect(sorted_sample(frame, fills));
  if (!value) return std::nullopt;
  return with_type_of(frame.shape.dtype, [&](auto zero) {
    return fmt::format("{}", static_cast<decltype(zero)>(*value));
  });
}

bool holds(const LoadedFrame& frame, double value) {
  const DType dtype = frame.shape.dtype;
  return frame.session->holds(bits_of(value, dtype)) ||
         (value == 0 && frame.session->holds(bits_of(-value, dtype)));
}

}  // namespace

FillWatch::FillWatch(const FillValues& named, const FillValues& others)
    : fills_(joined(named, others)) {
  for (std::size_t i = 0; i < named.count; ++i) named_.push_back({named.values.at(i), false, {}});
}

void FillWatch::look_at(const LoadedFrame& frame) {
  for (Named& named : named_) look_for(named, frame);
  if (!suspect_) suspect_ = suspected_fill_value(frame, fills_);
}

/// Values of f32 that were turned into f64 are those of f32 still.
void FillWatch::look_for(Named& named, const LoadedFrame& frame) const {
  if (named.seen) return;
  named.seen = frame.scan.missing != 0 && holds(frame, named.value);
  const auto rounded = static_cast<double>(static_cast<float>(named.value));
  const bool other = frame.shape.dtype == DType::f64 && rounded != named.value;
  if (!named.seen && other && holds(frame, rounded)) named.in_other_precision = rounded;
}

bool FillWatch::suspects_others() const {
  return suspect_ || std::any_of(named_.begin(), named_.end(), [](const Named& named) {
           return !named.seen && named.in_other_precision;
         });
}

std::vector<std::string> FillWatch::warnings() const {
  std::vector<std::string> lines;
  for (const Named& named : named_) {
    if (named.seen) continue;
    const std::string line = fmt::format("--fill-value {} matches no point", named.value);
    lines.push_back(named.in_other_precision
                        ? fmt::format("{}, but the nearest f32 does; give --fill-value {}", line,
                                      *named.in_other_precision)
                        : line);
  }
  if (suspect_) {
    lines.push_back(
        fmt::format("{} repeats far outside the other values; if it means missing, give "
                    "--fill-value {}",
                    *suspect_, *suspect_));
  }
  return lines;
}

}  // namespace cuszi::app
