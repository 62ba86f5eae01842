#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"
#include "core/base/units.hpp"
#include "core/coders/coder.hpp"
#include "core/field/bound.hpp"

namespace cuszi {

/// Facts about a field's frames that are reported after compressing as after reading them.
struct FieldSummary {
  std::uint64_t frames = 0;
  ValueRange range;
  std::optional<double> least_bound;  ///< absolute, if some points have another than the field's
  std::uint64_t kept = 0;             ///< points of bound 0, where others have another
  std::uint64_t masked = 0;
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
  std::string predictor = "none";  ///< of the first frame that is coded
  std::string coder = "none";
  Lossless lossless = Lossless::none;  ///< bitcomp if any section is packed

  void add(const FrameHeader& header, std::uint64_t points, std::uint64_t frame_outliers,
           std::uint64_t frame_patches);
};

/// How many outliers and patches a frame's payload holds, without decoding it.
struct Exceptions {
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// Counts the outliers and patches of a payload in the host's memory. Checks the payload's hashes.
/// Throws ArchiveError.
Exceptions count_exceptions(const FrameHeader& header, Bytes payload);
/// Counts the outliers and patches of a payload in the backend's memory. Checks the payload's
/// hashes. Throws ArchiveError.
Exceptions count_exceptions(const FrameHeader& header, Bytes payload, Backend& backend);

}  // namespace cuszi
