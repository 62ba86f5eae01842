#pragma once

#include <span>

#include "core/archive/frame.hpp"
#include "core/backend/backend.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

// Before a frame leaves the encoder, the reader's parsers check it. Failures are defects of the
// encoder.

/// Returns the parsed header. Throws InternalError.
FrameHeader check_header(const FrameShape& shape, Bytes header);

/// Checks the section codebook of a frame with this header if it is of `cells`.
void check_codebook(const FrameHeader& header, Bytes codebook);

/// Checks header and heads of codes, codebooks and sparse lists. Sections may be in the backend's
/// memory or the host's. Throws InternalError.
void check_frame(Backend& backend, const FrameShape& shape, Bytes header,
                 std::span<const Sections> passes);

}  // namespace cuszi
