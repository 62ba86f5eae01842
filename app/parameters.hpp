#pragma once

#include <nlohmann/json.hpp>

#include "core/coder.hpp"
#include "core/frame.hpp"
#include "core/predictor.hpp"

namespace cuszi::app {

/// What an archive says of a predictor or coder, by the names of the command line.
nlohmann::ordered_json describe(const PredictorParams& params);
nlohmann::ordered_json describe(const CoderParams& params);

/// The passes of a frame of `multilevel`, coarse to fine, with their bytes; empty for others.
nlohmann::ordered_json describe_schedule(const FrameHeader& header);

}  // namespace cuszi::app
