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

/// Values of a device that are smaller than so many bounds are not looked at for fill values: those
/// lie far outside the others.
inline constexpr double ordinary_bounds = 16384;

/// What a user should know of a field's fill values.
struct FillWarning {
  enum class Kind {
    suspect,    ///< a value looks as if it meant "missing", but is no fill value
    misnamed,   ///< a fill value differs from what the field has by a rounding to f32
    unmatched,  ///< no point has a fill value that some should have
  };

  Kind kind;
  std::string value;       ///< the suspect, or the fill value
  std::string other = {};  ///< what the field has instead of a misnamed fill value

  /// Whether a relative bound refers to a range with values that mean "missing".
  bool spoils_range() const { return kind != Kind::unmatched; }

  /// The warning as one line that is no full sentence. `option` names the option for fill values,
  /// like "--fill-value".
  std::string text(std::string_view option) const;
};

/// The warnings that make a result useless, in one line; empty if there are none.
std::string spoiling(const std::vector<FillWarning>& warnings, std::string_view option);

/// The least and the greatest values of a sample that grows, and how often each was drawn or
/// counted.
class SampleTails {
 public:
  /// Takes in the value that was drawn at a point; one that is drawn again counts once.
  void add(double value, std::uint64_t point);
  /// Takes in a value that so many points have, whether or not it was drawn.
  void add_counted(double value, std::uint64_t points);

  /// Values that look like fill values, up to three at either end: each lies so many times further
  /// from the other values than those lie from each other, and is on so many points, as
  /// suspicion_of() says.
  std::vector<double> far_out() const;

 private:
  static constexpr std::size_t kept = 4;  ///< distinct values at either end

  struct Seen {
    std::uint64_t drawn = 0;
    std::uint64_t counted = 0;
    std::uint64_t point = 0;  ///< where it was drawn last
  };

  Seen* seen(double value);
  void trim();
  bool are_far_out(std::size_t low, std::size_t high) const;

  std::map<double, Seen> ends_;
  std::uint64_t drawn_ = 0;
  double inner_low_ = std::numeric_limits<double>::infinity();    ///< from there to `inner_high_`
  double inner_high_ = -std::numeric_limits<double>::infinity();  ///< no end can be
};

/// How a FillWatch looks at a field.
struct FillLook {
  std::size_t expected = 0;  ///< how many of the first fill values should be somewhere in the field
  /// Drawn of each part; nothing: as many as take little time.
  std::optional<std::uint64_t> samples = {};
  std::optional<double> padding = {};  ///< a value that is never suspected
  bool range_counts = false;  ///< the least and the greatest value are suspected, however few
};

/// Looks at the parts of a field for values that mean "missing" and are none of its fill values.
class FillWatch {
 public:
  explicit FillWatch(const FillValues& fills, const FillLook& look = {});

  /// Looks at a frame that has been loaded, unless its backend has not scanned it yet, and a sample
  /// has no larger magnitude than `ordinary`.
  void look_at(const LoadedFrame& frame, double ordinary = 0);

  /// Looks at values in the host's memory.
  void look_at(DType dtype, Bytes bytes);

  /// How many values are drawn of a part of so many points: all of a small one, in their order,
  /// else those at sample_point(k, points).
  std::uint64_t samples_of(std::uint64_t points) const;

  /// Looks at what was drawn of a part of so many points, without fill values.
  void look_at(DType dtype, std::uint64_t points, std::span<const double> sample);

  /// The ends of the range of a part, in which a sample was looked at, that are suspected if enough
  /// points have them.
  std::vector<double> doubtful_ends(double min, double max) const;

  /// The warnings after all parts of the field have been looked at.
  std::vector<FillWarning> warnings() const;

 private:
  /// A part of the field, wherever it is.
  struct Part {
    DType dtype;
    std::uint64_t points;
    std::function<std::vector<double>(std::span<const std::uint64_t>)> values_at;
    std::function<std::uint64_t(double)> count;  ///< of the points that have a value
    const FieldScan* scan;                       ///< none if it is not needed
  };

  struct Fill {
    double value;
    bool seen;  ///< or need not be
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
  std::uint64_t points_ = 0;  ///< of the parts that were looked at
  DType dtype_ = DType::f64;
};

}  // namespace cuszi
