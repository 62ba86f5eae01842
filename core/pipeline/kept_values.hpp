#pragma once

#include <cstdint>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/base/lossless.hpp"
#include "core/field/frame_shape.hpp"
#include "core/lossless/predicted.hpp"

namespace cuszi {

/// A frame without loss, in host memory: predicted, as packed byte planes, or stored.
struct KeptValues {
  FrameKind kind = FrameKind::stored;
  ByteCount bytes = 0;            ///< of its sections
  std::vector<std::byte> packed;  ///< if lossless
  OwnedWordSections words;        ///< if predicted

  /// `values` are those of keep_values(); both must outlive the sections.
  Sections sections(Bytes values) const;
};

/// Takes the smallest form of a frame's values, which are aligned. `step`: see encode_predicted().
/// Byte planes of large frames are packed only where a sample of them may win.
KeptValues keep_values(const FrameShape& shape, Bytes values, const ForEach& for_each,
                       std::uint64_t step = 1);

}  // namespace cuszi
