#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/quality/quality_meter.hpp"
#include "codec/settings/target.hpp"

namespace cuszi {

inline constexpr int most_target_passes = 6;  ///< over a field, after the trials on samples

/// An archive that was made for a target, and what it reaches of it.
struct TargetArchive {
  CompressedField result;
  std::vector<std::byte> archive;
  std::optional<QualityMeter> meter;  ///< of its restored values: always where a PSNR is the target
  double reached = 0;
};

/// Compresses a field in one pass, the `pass`-th from 1 on, and measures it where that is needed.
using TargetPass = std::function<TargetArchive(const FieldSettings& settings, int pass)>;

/// The archive of a field that is nearest to a target among those that meet it, else among all. The
/// bound is found on samples; where the field differs from them it is compressed again.
TargetArchive compress_to_target(const Target& target, const FieldSettings& settings,
                                 Backend& backend, FieldSource& field, const TargetPass& make);

}  // namespace cuszi
