#include "app/fill_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/sample.hpp"

namespace cuszi::app {

namespace {

constexpr std::uint64_t most_samples = 16384;
constexpr std::uint64_t fewest_others = 16;
constexpr double suspicious_distance = 1000;

/// The finite values of a fixed sample, sorted; all of them in a small frame.
std::vector<double> sorted_sample(const LoadedFrame& frame) {
  const std::uint64_t points = frame.shape.points();
  std::vector<std::uint64_t> at(std::min(points, most_samples));
  for (std::uint64_t k = 0; k < at.size(); ++k) {
    at[k] = at.size() == points ? k : sample_point(k, points);
  }
  std::vector<double> sample = frame.session->values_at(at);
  const auto is_missing = [](double value) { return !std::isfinite(value); };
  sample.erase(std::remove_if(sample.begin(), sample.end(), is_missing), sample.end());
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
  const std::optional<double> value = suspect(sorted_sample(frame));
  if (!value) return std::nullopt;
  return with_type_of(frame.shape.dtype, [&](auto zero) {
    return fmt::format("{}", static_cast<decltype(zero)>(*value));
  });
}

}  // namespace cuszi::app
