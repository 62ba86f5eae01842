#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/quality/quality_meter.hpp"
#include "codec/settings/settings.hpp"

namespace cuszi {

inline constexpr int most_target_passes = 6;  ///< after trials on samples

struct TargetArchive {
  CompressedField result;
  std::vector<std::byte> archive;
  std::optional<QualityMeter> meter;  ///< always for a PSNR
  double reached = 0;
};

/// Compresses once, and measures if needed; `pass` counts from 1.
using TargetPass = std::function<TargetArchive(const FieldSettings& settings, int pass)>;

/// The archive nearest to the target, preferably meeting it. Repeats while the field misses what
/// samples promised.
TargetArchive compress_to_target(const Target& target, const FieldSettings& settings,
                                 Backend& backend, FieldSource& field, const TargetPass& make);

}  // namespace cuszi
