#pragma once

#include <cstdint>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"
#include "core/field/frame_shape.hpp"
#include "core/lossless/predicted.hpp"

namespace cuszi {

/// A frame without loss: predicted, as packed byte planes, or stored.
struct KeptValues {
  FrameKind kind = FrameKind::stored;
  ByteCount bytes = 0;            ///< of its sections
  std::vector<std::byte> packed;  ///< if lossless
  PredictedValues words;          ///< if predicted

  /// `values` are those of keep_values(); both must outlive the sections.
  Sections sections(Bytes values) const;
};

/// Takes the smallest form of a frame's values, which are aligned, in any memory. Byte planes are
/// packed on the host; of large frames only where a sample of the values says that they win by a
/// twentieth. `step`: see encode_predicted(). The session must outlive the result.
KeptValues keep_values(Backend& backend, EncodeSession& session, const FrameShape& shape,
                       Bytes values, std::uint64_t step = 1);

}  // namespace cuszi
