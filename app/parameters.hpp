#pragma once

#include <nlohmann/json.hpp>

#include "core/coder.hpp"
#include "core/predictor.hpp"

namespace cuszi::app {

/// What an archive says of a predictor or coder, by the names of the command line.
nlohmann::ordered_json describe(const PredictorParams& params);
nlohmann::ordered_json describe(const CoderParams& params);

}  // namespace cuszi::app
