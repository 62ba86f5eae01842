#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/field/mask.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

/// Device values below so many bounds are not checked: fill values lie far outside the others.
inline constexpr double ordinary_bounds = 16384;

struct FillWarning {
  enum class Kind {
    suspect,    ///< an unnamed value that looks like a fill value
    misnamed,   ///< differs from the field's value by rounding to f32
    unmatched,  ///< expected, but absent
  };

  Kind kind;
  std::string value;       ///< suspect or fill value
  std::string other = {};  ///< the field's value, if misnamed

  /// Whether it falsifies a relative bound's range.
  bool spoils_range() const { return kind != Kind::unmatched; }

  /// One line. `option` names the option for fill values, like "--fill-value".
  std::string text(std::string_view option) const;
};

/// Warnings that make a result useless, in one line.
std::string spoiling(const std::vector<FillWarning>& warnings, std::string_view option);

/// Extreme values of a growing sample, with their points.
class SampleTails {
 public:
  /// Adds the value drawn at `point`, which counts once.
  void add(double value, std::uint64_t point);
  void add_counted(double value, std::uint64_t points);

  /// Up to three suspects at either end, see suspicion_of().
  std::vector<double> far_out() const;

 private:
  static constexpr std::size_t kept = 4;  ///< at either end

  struct Seen {
    std::uint64_t drawn = 0;
    std::uint64_t counted = 0;
    std::uint64_t point = 0;  ///< last drawn
  };

  Seen* seen(double value);
  void trim();
  bool are_far_out(std::size_t low, std::size_t high) const;

  std::map<double, Seen> ends_;
  std::uint64_t drawn_ = 0;
  double inner_low_ = std::numeric_limits<double>::infinity();  ///< values from here to inner_high_
  double inner_high_ = -std::numeric_limits<double>::infinity();  ///< cannot be ends
};

struct FillLook {
  std::size_t expected = 0;  ///< leading fill values that should occur
  /// Per part; nullopt: default.
  std::optional<std::uint64_t> samples = {};
  std::optional<double> padding = {};  ///< never suspected
  bool range_counts = false;           ///< suspect rare ends
};

/// Detects unnamed and misnamed fill values.
class FillWatch {
 public:
  explicit FillWatch(const FillValues& fills, const FillLook& look = {});

  /// Checks a frame; skips one that is not scanned and whose sampled magnitudes are at most
  /// `ordinary`.
  void look_at(const LoadedFrame& frame, double ordinary = 0);

  /// Checks values in host memory.
  void look_at(DType dtype, Bytes bytes);

  /// Sample size: all points in order, or those at sample_point(k, points).
  std::uint64_t samples_of(std::uint64_t points) const;

  /// Checks a sample without fill values.
  void look_at(DType dtype, std::uint64_t points, std::span<const double> sample);

  /// Ends of a sampled part that are suspected if enough points have them.
  std::vector<double> doubtful_ends(double min, double max) const;

  /// Call after all parts.
  std::vector<FillWarning> warnings() const;

 private:
  struct Part {
    DType dtype;
    std::uint64_t points;
    std::function<std::vector<double>(std::span<const std::uint64_t>)> values_at;
    std::function<std::uint64_t(double)> count;  ///< points with a value
    const FieldScan* scan;                       ///< null if not needed
  };

  struct Fill {
    double value;
    bool seen;  ///< or not expected
    std::optional<double> instead = {};
  };

  void look_at(const Part& part);
  std::uint64_t sampled_at(std::uint64_t k, std::uint64_t points) const;
  void draw_sample(const Part& part);
  void count_ends(const Part& part);
  void look_for(Fill& fill, const Part& part) const;
  bool is_named(double value) const;
  bool needs_scan() const { return look_.range_counts || !fills_.empty(); }

  FillValues named_;
  FillLook look_;
  std::vector<Fill> fills_;
  SampleTails tails_;
  std::uint64_t points_ = 0;  ///< so far
  DType dtype_ = DType::f64;
};

}  // namespace cuszi
