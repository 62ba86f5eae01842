#pragma once

#include <optional>
#include <string>

#include "core/pipeline.hpp"

namespace cuszi::app {

/// A value that looks as if it meant "missing": the least or the greatest of a sample of the frame
/// that `backend` has loaded last, if it repeats and lies a thousand times further from the others
/// than they from each other. Returned as text that --fill-value takes.
std::optional<std::string> suspected_fill_value(const LoadedFrame& frame);

}  // namespace cuszi::app
