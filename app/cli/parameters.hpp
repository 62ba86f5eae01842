#pragma once

#include "app/cli/json.hpp"
#include "core/archive/frame.hpp"
#include "core/archive/predictor.hpp"
#include "core/coders/coder.hpp"

namespace cuszi::app {

/// What an archive says of a predictor, coder, transform or local bounds, by the names of the
/// command line.
Json describe(const PredictorParams& params);
Json describe(const CoderParams& params);
Json describe(const FrameTransform& transform);
Json describe(const FrameBounds& bounds);

/// The passes of a frame of `multilevel` or `cells`, coarse to fine, with their bytes, and those of
/// the levels' chains that are coded by ANS. The codes of `coded_points` points are among a pass's
/// bytes: its own, or those of the level whose chain it holds. Empty for others. Throws
/// ArchiveError.
Json describe_schedule(const FrameHeader& header, const Dims& dims, Bytes payload);

}  // namespace cuszi::app
