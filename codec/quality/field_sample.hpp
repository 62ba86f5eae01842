#pragma once

#include <algorithm>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "core/field/metrics.hpp"

namespace cuszi {

/// A part of a field that is compressed for a trial.
struct SampleBox {
  FrameShape shape;
  std::vector<std::byte> values;
};

/// Parts of a field: all of it if it is small, else boxes in some frames.
struct FieldSample {
  ValueRange range;  ///< of the whole field
  bool whole = false;
  std::vector<SampleBox> boxes;

  bool has_one_shape() const {
    return std::all_of(boxes.begin(), boxes.end(), [&](const SampleBox& box) {
      return box.shape.dims == boxes.front().shape.dims;
    });
  }
};

/// Takes a sample of a field; reads every frame for the range.
FieldSample take_sample(Backend& backend, const FieldSettings& settings, FieldSource& field);

/// What compressing a sample gave.
struct SampleResult {
  ByteCount field_bytes = 0;
  ByteCount archive_bytes = 0;
  Quality quality;
  std::optional<Method> method;  ///< of the first box, if it is coded

  double ratio() const {
    return static_cast<double>(field_bytes) / static_cast<double>(archive_bytes);
  }
};

/// Compresses a sample under the absolute bound of `settings`; restores and measures it if the
/// quality is wanted.
SampleResult code_sample(const FieldSample& sample, Backend& backend, const FieldSettings& settings,
                         bool measure);

}  // namespace cuszi
