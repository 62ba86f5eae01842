#include "codec/field/fill_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/base/lossless.hpp"
#include "core/field/sample.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/field/scan.hpp"

namespace cuszi {

namespace {

/// The largest sampled magnitude of a frame, where coding the frame takes it anyway.
std::optional<double> cheap_magnitude(const LoadedFrame& frame) {
  if (!std::holds_alternative<CellsParams>(frame.draft)) return frame.session->sampled_magnitude();
  return frame.session->sample_of_cells().magnitude();
}

constexpr std::uint64_t least_samples = 512;  ///< per part
constexpr std::uint64_t most_samples = 4096;
constexpr std::uint64_t points_per_sample = 256;
constexpr std::uint64_t fewest_others = 16;

/// Thresholds for a suspect: distance from the other values relative to their spread, and points
/// drawn or counted. Rarely drawn values may be real peaks.
struct Suspicion {
  double distance;
  std::uint64_t drawn;
  double distance_if_counted;
  std::uint64_t counted;
};

constexpr Suspicion of_any{1000, 2, 1e9, 16};
constexpr Suspicion of_nines{10, 2, 10, 2};
constexpr Suspicion of_huge{1000, 1, 1000, 1};

std::string text_of(double value, DType dtype) {
  return with_type_of(
      dtype, [&](auto zero) { return fmt::format("{}", static_cast<decltype(zero)>(value)); });
}

/// What a user may mean by an f32 value: itself, or its shortest decimal.
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

/// Shortest decimal, of f32 if it is one.
std::string digits_of(double value) {
  const bool is_single = std::abs(value) <= std::numeric_limits<float>::max() &&
                         double{static_cast<float>(value)} == value;
  return is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

/// 99, 999.9 and similar, and the least integers of 16, 32 and 64 bits.
bool is_nines(double value) {
  if (value == -0x1p15 || value == 1 - 0x1p15 || value == -0x1p31 || value == 1 - 0x1p31 ||
      value == -0x1p63) {
    return true;
  }
  const std::string digits = digits_of(std::abs(value));
  return digits.find_first_not_of("9.") == digits.npos &&
         std::count(digits.begin(), digits.end(), '9') > 1;
}

/// 1e15, 1e36 and similar, NetCDF's fill value, and the largest floats.
bool is_huge(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == netcdf_fill_value ||
      magnitude == double{static_cast<float>(netcdf_fill_value)} ||
      magnitude == std::numeric_limits<float>::max() ||
      magnitude == std::numeric_limits<double>::max()) {
    return true;
  }
  const std::string digits = digits_of(magnitude);
  return magnitude >= 1e15 && digits.find_first_not_of('0', 1) == digits.find("e+", 1) &&
         digits.front() == '1';
}

Suspicion suspicion_of(double value) {
  return is_huge(value) ? of_huge : is_nines(value) ? of_nines : of_any;
}

}  // namespace

std::string FillWarning::text(std::string_view option) const {
  switch (kind) {
    case Kind::suspect:
      return fmt::format(
          "{} lies far outside the other values; if it marks missing points, give {} {}", value,
          option, value);
    case Kind::misnamed:
      return fmt::format(
          "fill value {} matches no point, but the field contains {}; if that marks missing "
          "points, give {} {}",
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

void SampleTails::add(double value, std::uint64_t point) {
  ++drawn_;
  Seen* const known = seen(value);
  if (known == nullptr || (known->drawn != 0 && known->point == point)) return;
  ++known->drawn;
  known->point = point;
}

void SampleTails::add_counted(double value, std::uint64_t points) {
  if (Seen* const known = seen(value)) known->counted += points;
}

/// Null if the value cannot be an end. Erased values never become ends again: enough values lie
/// beyond them.
SampleTails::Seen* SampleTails::seen(double value) {
  if (inner_low_ < value && value < inner_high_) return nullptr;
  const auto [entry, is_new] = ends_.try_emplace(value);
  if (is_new) trim();
  return &entry->second;
}

void SampleTails::trim() {
  if (ends_.size() > 2 * kept) ends_.erase(std::next(ends_.begin(), kept));
  if (ends_.size() < 2 * kept) return;
  inner_low_ = std::next(ends_.begin(), kept - 1)->first;
  inner_high_ = std::next(ends_.begin(), kept)->first;
}

bool SampleTails::are_far_out(std::size_t low, std::size_t high) const {
  if (low + high + 2 > ends_.size()) return false;
  const auto first = std::next(ends_.begin(), static_cast<std::ptrdiff_t>(low));
  const auto end = std::prev(ends_.end(), static_cast<std::ptrdiff_t>(high));
  const double least = first->first;
  const double greatest = std::prev(end)->first;
  std::uint64_t others = drawn_;
  const auto is_suspected = [&](const auto& entry) {
    const auto& [value, seen] = entry;
    others -= seen.drawn;
    const double distance = value < least ? least - value : value - greatest;
    const Suspicion enough = suspicion_of(value);
    return (seen.drawn >= enough.drawn && distance > enough.distance * (greatest - least)) ||
           (seen.counted >= enough.counted &&
            distance > enough.distance_if_counted * (greatest - least));
  };
  return std::all_of(ends_.begin(), first, is_suspected) &&
         std::all_of(end, ends_.end(), is_suspected) && others >= fewest_others;
}

std::vector<double> SampleTails::far_out() const {
  for (std::size_t count = 1; count <= 2 * (kept - 1); ++count) {
    for (std::size_t low = 0; low <= count; ++low) {
      const std::size_t high = count - low;
      if (low >= kept || high >= kept || !are_far_out(low, high)) continue;
      std::vector<double> values;
      std::size_t at = 0;
      for (const auto& [value, seen] : ends_) {
        if (at < low || at >= ends_.size() - high) values.push_back(value);
        ++at;
      }
      return values;
    }
  }
  return {};
}

FillWatch::FillWatch(const FillValues& fills, const FillLook& look) : named_(fills), look_(look) {
  for (std::size_t i = 0; i < fills.count; ++i) {
    fills_.push_back({fills.values.at(i), i >= look.expected});
  }
}

void FillWatch::look_at(const LoadedFrame& frame, double ordinary) {
  const auto magnitude = ordinary > 0 && !needs_scan() ? cheap_magnitude(frame) : std::nullopt;
  if (magnitude && *magnitude < ordinary) return;
  const auto values_at = [&](std::span<const std::uint64_t> points) {
    return frame.session->values_at(points);
  };
  const auto count = [&](double value) {
    const DType dtype = frame.shape.dtype;
    return frame.session->count_bits(bits_of(value, dtype)) +
           (value == 0 ? frame.session->count_bits(bits_of(-value, dtype)) : 0);
  };
  look_at({frame.shape.dtype, frame.shape.points(), values_at, count,
           needs_scan() ? &frame.scan() : nullptr});
}

void FillWatch::look_at(DType dtype, Bytes bytes) {
  with_work_values(dtype, bytes, [&]<class T>(std::span<const T> values) {
    const auto values_at = [&](std::span<const std::uint64_t> points) {
      std::vector<double> picked;
      for (const std::uint64_t point : points) picked.push_back(double{values[point]});
      return picked;
    };
    const auto count = [&](double value) {
      return static_cast<std::uint64_t>(
          std::count(values.begin(), values.end(), static_cast<T>(value)));
    };
    const Extents3 extents{1, 1, values.size()};
    const FieldScan scan = needs_scan() && !values.empty()
                               ? cpu::scan_frame(extents, values, named_, MultilevelParams{})
                               : FieldScan{};
    look_at({work_of(dtype), values.size(), values_at, count, needs_scan() ? &scan : nullptr});
  });
}

void FillWatch::look_at(const Part& part) {
  dtype_ = part.dtype;
  if (part.scan != nullptr) {
    for (Fill& fill : fills_) look_for(fill, part);
  }
  draw_sample(part);
  if (look_.range_counts && part.scan->missing < part.points) count_ends(part);
}

/// About a nanosecond per point, for fast presets.
std::uint64_t FillWatch::samples_of(std::uint64_t points) const {
  const std::uint64_t wanted =
      look_.samples.value_or(std::clamp(points / points_per_sample, least_samples, most_samples));
  return std::min(points, wanted);
}

std::uint64_t FillWatch::sampled_at(std::uint64_t k, std::uint64_t points) const {
  return samples_of(points) == points ? k : sample_point(k, points);
}

void FillWatch::draw_sample(const Part& part) {
  std::vector<std::uint64_t> at(samples_of(part.points));
  for (std::uint64_t k = 0; k < at.size(); ++k) at[k] = sampled_at(k, part.points);
  look_at(part.dtype, part.points, part.values_at(at));
}

void FillWatch::look_at(DType dtype, std::uint64_t points, std::span<const double> sample) {
  dtype_ = dtype;
  with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const MissingTest<T> missing(named_);
    for (std::uint64_t k = 0; k < sample.size(); ++k) {
      if (missing(static_cast<T>(sample[k])) || look_.padding == sample[k]) continue;
      tails_.add(sample[k], points_ + sampled_at(k, points));
    }
  });
  points_ += points;
}

/// Assumes that enough points have the ends' values.
std::vector<double> FillWatch::doubtful_ends(double min, double max) const {
  SampleTails tails = tails_;
  for (const double end : {min, max}) {
    if (look_.padding != end) tails.add_counted(end, of_any.counted);
  }
  std::vector<double> suspects = tails.far_out();
  std::erase_if(suspects, [&](double value) { return value != min && value != max; });
  return suspects;
}

/// A rare peak is real and must not mask closer suspects.
void FillWatch::count_ends(const Part& part) {
  for (const double end : doubtful_ends(part.scan->min, part.scan->max)) {
    const std::uint64_t points = part.count(end);
    if (points >= suspicion_of(end).counted) tails_.add_counted(end, points);
  }
}

bool FillWatch::is_named(double value) const {
  return std::any_of(fills_.begin(), fills_.end(),
                     [&](const Fill& fill) { return fill.value == value; });
}

/// Checks for f32 values widened to f64, within the part's range.
void FillWatch::look_for(Fill& fill, const Part& part) const {
  if (!fill.seen) fill.seen = part.scan->missing != 0 && part.count(fill.value) != 0;
  if (fill.instead || part.dtype == DType::f32) return;
  for (const double other : in_other_precision(fill.value)) {
    const bool is_in_range = other >= part.scan->min && other <= part.scan->max;
    if (is_in_range && !is_named(other) && part.count(other) != 0) fill.instead = other;
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
