#include "app/fill_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/sample.hpp"

namespace cuszi::app {

namespace {

constexpr std::uint64_t most_samples = 16384;
constexpr std::uint64_t fewest_others = 16;
constexpr double suspicious_distance = 1000;

template <class T>
T value_at(Bytes values, std::uint64_t point) {
  T value;
  std::memcpy(&value, values.data() + point * sizeof(T), sizeof(T));
  return value;
}

/// The finite values of a fixed sample, sorted; all of them in a small frame.
template <class T>
std::vector<double> sorted_sample(const LoadedFrame& frame) {
  const std::uint64_t points = frame.shape.points();
  const std::uint64_t count = std::min(points, most_samples);
  std::vector<double> sample;
  sample.reserve(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t point = count == points ? k : sample_point(k, points);
    const auto value = static_cast<double>(value_at<T>(frame.values, point));
    if (std::isfinite(value)) sample.push_back(value);
  }
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

}  // namespace

std::optional<std::string> suspected_fill_value(const LoadedFrame& frame) {
  return with_type_of(frame.shape.dtype, [&](auto zero) -> std::optional<std::string> {
    using T = decltype(zero);
    const std::optional<double> value = suspect(sorted_sample<T>(frame));
    if (!value) return std::nullopt;
    return fmt::format("{}", static_cast<T>(*value));
  });
}

}  // namespace cuszi::app
