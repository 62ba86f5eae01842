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

/// Totals over the frames of a field.
struct FieldSummary {
  std::uint64_t frames = 0;
  ValueRange range;
  std::optional<double> least_bound;  ///< absolute, if bounds differ
  std::uint64_t kept = 0;             ///< of bound 0, if bounds differ
  std::uint64_t masked = 0;
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
  std::string predictor = "none";  ///< first coded frame
  std::string coder = "none";
  Lossless lossless = Lossless::none;  ///< bitcomp if any section is packed

  void add(const FrameHeader& header, std::uint64_t points, std::uint64_t frame_outliers,
           std::uint64_t frame_patches);
};

struct Exceptions {
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// Counts without decoding; checks hashes. Throws ArchiveError.
Exceptions count_exceptions(const FrameHeader& header, Bytes payload);
/// Counts in a payload in the backend's memory.
Exceptions count_exceptions(const FrameHeader& header, Bytes payload, Backend& backend);

}  // namespace cuszi
