#pragma once

#include <algorithm>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "core/field/metrics.hpp"

namespace cuszi {

struct SampleBox {
  FrameShape shape;
  std::vector<std::byte> values;
};

/// The whole field or boxes of it.
struct FieldSample {
  ValueRange range;  ///< of the field
  bool whole = false;
  std::vector<SampleBox> boxes;

  bool has_one_shape() const {
    return std::all_of(boxes.begin(), boxes.end(), [&](const SampleBox& box) {
      return box.shape.dims == boxes.front().shape.dims;
    });
  }
};

/// Takes a sample; reads every frame for the range.
FieldSample take_sample(Backend& backend, const FieldSettings& settings, FieldSource& field);

struct SampleResult {
  ByteCount field_bytes = 0;
  ByteCount archive_bytes = 0;
  Quality quality;
  std::optional<Method> method;  ///< first coded box

  double ratio() const {
    return static_cast<double>(field_bytes) / static_cast<double>(archive_bytes);
  }
};

/// Compresses under the absolute bound of `settings`.
SampleResult code_sample(const FieldSample& sample, Backend& backend, const FieldSettings& settings,
                         bool measure);

}  // namespace cuszi
