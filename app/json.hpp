#pragma once

#include <nlohmann/json.hpp>

namespace cuszi::app {

/// Members in the order in which they were set.
using Json = nlohmann::ordered_json;

}  // namespace cuszi::app
