#include "codec/field/fill_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/field/constant.hpp"
#include "core/field/sample.hpp"
#include "cpu_ref/field/scan.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t least_samples = 512;  ///< of a part
constexpr std::uint64_t most_samples = 4096;
constexpr std::uint64_t points_per_sample = 256;
constexpr std::uint64_t fewest_others = 16;
constexpr double suspicious_distance = 1000;

std::string text_of(double value, DType dtype) {
  return with_type_of(
      dtype, [&](auto zero) { return fmt::format("{}", static_cast<decltype(zero)>(value)); });
}

/// The doubles that someone may have meant by a value who has it as f32: the f32 itself, and what
/// its digits say.
std::vector<double> in_other_precision(double value) {
  if (std::abs(value) > std::numeric_limits<float>::max()) return {};
  const auto single = static_cast<float>(value);
  const std::string digits = fmt::format("{}", single);
  double decimal = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), decimal);
  std::vector<double> others{double{single}, decimal};
  std::erase(others, value);
  return others;
}

}  // namespace

std::string FillWarning::text(std::string_view option) const {
  switch (kind) {
    case Kind::suspect:
      return fmt::format("{} repeats far outside the other values; if it means missing, give {} {}",
                         value, option, value);
    case Kind::misnamed:
      return fmt::format(
          "the fill value {} stands in the field as {}, rounded otherwise; if that means missing, "
          "give {} {}",
          value, other, option, other);
    case Kind::unmatched: break;
  }
  return fmt::format("{} {} matches no point", option, value);
}

std::string spoiling(const std::vector<FillWarning>& warnings, std::string_view option) {
  std::string line;
  for (const FillWarning& warning : warnings) {
    if (!warning.spoils_range()) continue;
    line += (line.empty() ? "" : "; ") + warning.text(option);
  }
  return line;
}

/// What is erased has as many values on either side as are kept: it never is an end again.
void SampleTails::add(double value) {
  ++drawn_;
  if (inner_low_ < value && value < inner_high_) return;
  if (!ends_.try_emplace(value, 0).first->second++) trim();
}

void SampleTails::trim() {
  if (ends_.size() > 2 * kept) ends_.erase(std::next(ends_.begin(), kept));
  if (ends_.size() < 2 * kept) return;
  inner_low_ = std::next(ends_.begin(), kept - 1)->first;
  inner_high_ = std::next(ends_.begin(), kept)->first;
}

/// Whether the `low` least and the `high` greatest values are.
bool SampleTails::are_far_out(std::size_t low, std::size_t high) const {
  if (low + high + 2 > ends_.size()) return false;
  const auto first = std::next(ends_.begin(), static_cast<std::ptrdiff_t>(low));
  const auto end = std::prev(ends_.end(), static_cast<std::ptrdiff_t>(high));
  const double enough = suspicious_distance * (std::prev(end)->first - first->first);
  std::uint64_t others = drawn_;
  const auto repeats = [&](const auto& entry) {
    others -= entry.second;
    return entry.second > 1;
  };
  return std::all_of(ends_.begin(), first, repeats) && std::all_of(end, ends_.end(), repeats) &&
         others >= fewest_others && (low == 0 || first->first - std::prev(first)->first > enough) &&
         (high == 0 || end->first - std::prev(end)->first > enough);
}

std::vector<double> SampleTails::far_out() const {
  for (std::size_t count = 1; count <= 2 * (kept - 1); ++count) {
    for (std::size_t low = 0; low <= count; ++low) {
      const std::size_t high = count - low;
      if (low >= kept || high >= kept || !are_far_out(low, high)) continue;
      std::vector<double> values;
      std::size_t at = 0;
      for (const auto& [value, repeats] : ends_) {
        if (at < low || at >= ends_.size() - high) values.push_back(value);
        ++at;
      }
      return values;
    }
  }
  return {};
}

FillWatch::FillWatch(const FillValues& fills, std::size_t expected,
                     std::optional<std::uint64_t> samples)
    : named_(fills), samples_(samples) {
  for (std::size_t i = 0; i < fills.count; ++i) {
    fills_.push_back({fills.values.at(i), i >= expected});
  }
}

void FillWatch::look_at(const LoadedFrame& frame, double ordinary) {
  const auto sampled = ordinary > 0 ? frame.session->sampled_magnitude() : std::nullopt;
  if (sampled && *sampled < ordinary) return;
  const auto values_at = [&](std::span<const std::uint64_t> points) {
    return frame.session->values_at(points);
  };
  const auto holds = [&](double value) {
    const DType dtype = frame.shape.dtype;
    return frame.session->contains_bits(bits_of(value, dtype)) ||
           (value == 0 && frame.session->contains_bits(bits_of(-value, dtype)));
  };
  look_at({frame.shape.dtype, frame.shape.points(), values_at, holds,
           fills_.empty() ? nullptr : &frame.scan()});
}

void FillWatch::look_at(DType dtype, Bytes bytes) {
  with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span values(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    const auto values_at = [&](std::span<const std::uint64_t> points) {
      std::vector<double> picked;
      for (const std::uint64_t point : points) picked.push_back(double{values[point]});
      return picked;
    };
    const auto holds = [&](double value) {
      return std::find(values.begin(), values.end(), static_cast<T>(value)) != values.end();
    };
    const Extents3 extents{1, 1, values.size()};
    const FieldScan scan = fills_.empty() || values.empty()
                               ? FieldScan{}
                               : cpu::scan_frame(extents, values, named_, MultilevelParams{});
    look_at({dtype, values.size(), values_at, holds, fills_.empty() ? nullptr : &scan});
  });
}

void FillWatch::look_at(const Part& part) {
  dtype_ = part.dtype;
  if (part.scan != nullptr) {
    for (Fill& fill : fills_) look_for(fill, part);
  }
  draw_sample(part);
}

/// Quick kinds of coding take no more than a nanosecond a point.
std::uint64_t FillWatch::samples_of(std::uint64_t points) const {
  const std::uint64_t wanted =
      samples_.value_or(std::clamp(points / points_per_sample, least_samples, most_samples));
  return std::min(points, wanted);
}

/// All values of a small part.
void FillWatch::draw_sample(const Part& part) {
  std::vector<std::uint64_t> at(samples_of(part.points));
  for (std::uint64_t k = 0; k < at.size(); ++k) {
    at[k] = at.size() == part.points ? k : sample_point(k, part.points);
  }
  look_at(part.dtype, part.values_at(at));
}

void FillWatch::look_at(DType dtype, std::span<const double> sample) {
  dtype_ = dtype;
  with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const MissingTest<T> missing(named_);
    for (const double value : sample) {
      if (!missing(static_cast<T>(value))) tails_.add(value);
    }
  });
}

bool FillWatch::is_named(double value) const {
  return std::any_of(fills_.begin(), fills_.end(),
                     [&](const Fill& fill) { return fill.value == value; });
}

/// Values of f32 that were turned into f64 are those of f32 still. What is in the part but no fill
/// value lies within its range.
void FillWatch::look_for(Fill& fill, const Part& part) const {
  if (!fill.seen) fill.seen = part.scan->missing != 0 && part.holds(fill.value);
  if (fill.instead || part.dtype == DType::f32) return;
  for (const double other : in_other_precision(fill.value)) {
    const bool is_in_range = other >= part.scan->min && other <= part.scan->max;
    if (is_in_range && !is_named(other) && part.holds(other)) fill.instead = other;
  }
}

std::vector<FillWarning> FillWatch::warnings() const {
  using Kind = FillWarning::Kind;
  std::vector<FillWarning> found;
  std::vector<double> told;
  for (const Fill& fill : fills_) {
    const std::string value = fmt::format("{}", fill.value);
    if (fill.instead) {
      found.push_back({Kind::misnamed, value, fmt::format("{}", *fill.instead)});
      told.push_back(*fill.instead);
    } else if (!fill.seen) {
      found.push_back({Kind::unmatched, value});
    }
  }
  for (const double value : tails_.far_out()) {
    if (std::find(told.begin(), told.end(), value) != told.end()) continue;
    found.push_back({Kind::suspect, text_of(value, dtype_)});
  }
  return found;
}

}  // namespace cuszi
