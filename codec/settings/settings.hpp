#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/settings/limits.hpp"
#include "core/base/dtype.hpp"
#include "core/field/asked_bounds.hpp"
#include "core/field/bound.hpp"
#include "core/field/config.hpp"
#include "core/field/mask.hpp"
#include "cuszi/cuszi.h"

namespace cuszi {

/// Replaces a bound.
struct Target {
  enum class Kind {
    psnr,   ///< at least `value` dB, smallest size
    ratio,  ///< at least `value`, smallest error
  };
  Kind kind = Kind::psnr;
  double value = 0;
};

inline bool is_possible(const Target& target) {
  if (target.kind == Target::Kind::psnr) return target.value > 0 && target.value <= most_psnr;
  return target.value >= 1 && target.value <= most_ratio;
}

/// `reached` is a PSNR or ratio.
inline bool is_met(const Target& target, double reached) { return reached >= target.value; }

/// "psnr:80".
std::string to_string(const Target& target);

struct DeviceChoice {
  enum class Kind { automatic, cpu, cuda };

  Kind kind = Kind::automatic;
  int index = 0;          ///< device number
  std::uint64_t set = 0;  ///< bit n is device n; 0: only `index`

  /// All devices.
  static constexpr std::uint64_t all = ~std::uint64_t{0};

  /// Numbers on a machine with `count` devices; if it has none of them, one that it lacks.
  std::vector<int> numbers(int count) const;

  bool includes(int number) const {
    if (set == 0 || set == all) return set == all || number == index;
    return number < most_shared_devices && (set >> number & 1) != 0;
  }

  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

struct RunSettings {
  DeviceChoice device;
  std::optional<int> threads;             ///< of the CPU
  void* stream = nullptr;                 ///< awaited
  std::optional<ByteCount> memory_limit;  ///< for restoring
};

/// How to compress a field.
struct FieldSettings {
  double bound = 0;
  ErrorMode mode = ErrorMode::relative;
  double share = 0;                 ///< in modes of two bounds
  std::optional<ValueRange> range;  ///< for a relative bound
  FillValues fills;
  std::size_t expected_fills = 0;                  ///< leading fills that should occur
  std::optional<std::uint64_t> fill_samples = {};  ///< per frame
  std::optional<double> padding = {};              ///< never a suspect
  bool has_target = false;                         ///< by a PSNR or ratio
  BoundsByPlace places = {};                       ///< smaller bounds
  FrameConfig frame;
  std::optional<ByteCount> frame_bytes;  ///< if given

  AskedBound asked() const { return {bound, mode, share}; }
  /// Whether the range is needed before the first frame.
  bool needs_range() const { return mode == ErrorMode::relative && !range && bound != 0; }
  /// Whether a false range spoils the result.
  bool range_counts() const { return needs_range() || (has_target && bound != 0); }
};

/// Throws UsageError for settings that fields of a type have no use for.
void check_type(DType dtype, const FieldSettings& settings);

// Functions throw UsageError with member, value and what is accepted.

/// All settings but bound and mode.
FieldSettings method_settings(const cuszi_options& options);

/// The bound is unset with a target, and zfp's own if `has_bound` is false. `label` is the user's
/// name of the bound.
FieldSettings field_settings(const cuszi_options& options, bool has_bound, std::string_view label);

RunSettings run_settings(const cuszi_options& options);

/// Nullopt if the options give a bound.
std::optional<Target> target_of(const cuszi_options& options);

/// Requires that the options give no target.
AskedBound asked_bound(const cuszi_options& options, std::string_view label);

/// Throws if the mode has no share.
void refuse_share(const cuszi_options& options, std::string_view label);

/// Throws if the bound is pointwise.
void refuse_by_zfp(PredictorId predictor, ErrorMode mode, std::string_view label);

int mode_number(ErrorMode mode);

/// Requires that the options give no target.
ErrorMode error_mode_of(const cuszi_options& options);

}  // namespace cuszi
