#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "codec/settings/limits.hpp"
#include "codec/settings/target.hpp"
#include "core/field/asked_bounds.hpp"
#include "core/field/bound.hpp"
#include "core/field/config.hpp"
#include "core/field/mask.hpp"
#include "cuszi/cuszi.h"

namespace cuszi {

/// Where to compute, as the user asks.
struct DeviceChoice {
  enum class Kind { automatic, cpu, cuda };

  Kind kind = Kind::automatic;
  int index = 0;          ///< which of several devices
  std::uint64_t set = 0;  ///< of CUDA, bit n is device n: several of them; 0: `index` alone

  /// A set of all devices that there are.
  static constexpr std::uint64_t all = ~std::uint64_t{0};

  /// The devices' numbers, where this machine has `count`; one that it lacks where it has none of
  /// them.
  std::vector<int> numbers(int count) const;

  /// Whether a device is among them.
  bool includes(int number) const {
    if (set == 0 || set == all) return set == all || number == index;
    return number < most_shared_devices && (set >> number & 1) != 0;
  }

  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// Where and how a call works.
struct RunSettings {
  DeviceChoice device;
  std::optional<int> threads;             ///< of the CPU
  void* stream = nullptr;                 ///< of CUDA, whose work is awaited
  std::optional<ByteCount> memory_limit;  ///< of restoring
};

/// The bound, the fill values and the coding that a field is compressed with.
struct FieldSettings {
  double bound = 0;
  ErrorMode mode = ErrorMode::relative;
  double share = 0;                 ///< of each value, of modes that have two bounds
  std::optional<ValueRange> range;  ///< what a relative bound refers to, if the user knows it
  FillValues fills;
  std::size_t expected_fills = 0;  ///< how many of the first `fills` should be in the field
  std::optional<std::uint64_t> fill_samples =
      {};                              ///< drawn of each frame to find fill values not named
  std::optional<double> padding = {};  ///< a value that is none of them, wherever it lies
  bool has_target = false;             ///< the bound was found for a PSNR or a ratio
  BoundsByPlace places = {};           ///< smaller bounds of some points
  FrameConfig frame;
  std::optional<ByteCount> frame_bytes;  ///< if the user wishes

  AskedBound asked() const { return {bound, mode, share}; }
  /// True if the field's range must be known before its first frame can be compressed.
  bool needs_range() const { return mode == ErrorMode::relative && !range && bound != 0; }
  /// True if values that spoil the field's range spoil the result.
  bool range_counts() const { return needs_range() || (has_target && bound != 0); }
};

// What the members of cuszi_options come to. Every function throws UsageError, naming the member,
// its value and what would be accepted.

/// All settings but bound and mode.
FieldSettings method_settings(const cuszi_options& options);

/// All settings; the bound is open where there is a target, and zfp's own where its mode has one
/// and `has_bound` is false. `label` is what the user calls the bound.
FieldSettings field_settings(const cuszi_options& options, bool has_bound, std::string_view label);

RunSettings run_settings(const cuszi_options& options);

/// The target that the options ask for; nothing where they ask for a bound.
std::optional<Target> target_of(const cuszi_options& options);

/// The bound that the options ask for where there is no target. `label` is what the user calls it.
AskedBound asked_bound(const cuszi_options& options, std::string_view label);

/// Refuses a share of each value, if the options have one, where the mode has none.
void refuse_share(const cuszi_options& options, std::string_view label);

/// Refuses a bound that goes with each value where the predictor is zfp.
void refuse_by_zfp(PredictorId predictor, ErrorMode mode, std::string_view label);

/// The number of a cuszi_mode.
int mode_number(ErrorMode mode);

/// How `bound` is meant where there is no target.
ErrorMode error_mode_of(const cuszi_options& options);

}  // namespace cuszi
