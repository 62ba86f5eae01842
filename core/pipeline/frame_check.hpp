#pragma once

#include <span>

#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

// What is written can be read: before a frame leaves the encoder, a reader's own functions parse
// all that a reader validates before it decodes. What they refuse is a defect of the encoder.

/// Returns what a reader reads of a frame's header, with its prefix, for a frame of this shape.
/// Throws InternalError if the reader refuses it.
FrameHeader check_header(const FrameShape& shape, Bytes header);

/// Checks a whole frame: its header, and the heads of codes, codebooks and sparse lists in the
/// sections of its passes, which lie in the backend's memory or the host's. Throws InternalError if
/// the reader refuses any.
void check_frame(Backend& backend, const FrameShape& shape, Bytes header,
                 std::span<const Sections> passes);

}  // namespace cuszi
