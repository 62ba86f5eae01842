#pragma once

#include "app/cli/json.hpp"
#include "core/archive/frame.hpp"
#include "core/archive/predictor.hpp"
#include "core/coders/coder.hpp"

namespace cuszi::app {

/// By the names of the command line.
Json describe(const PredictorParams& params);
Json describe(const CoderParams& params);
Json describe(const FrameTransform& transform);
Json describe(const FrameBounds& bounds);

/// Passes of `multilevel` or `cells`, coarse to fine, with bytes and ANS chains; else empty. A
/// pass's bytes include codes of `coded_points` points: its own or a whole level's. Throws
/// ArchiveError.
Json describe_schedule(const FrameHeader& header, const Dims& dims, Bytes payload);

}  // namespace cuszi::app
