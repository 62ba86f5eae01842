#pragma once

#include <optional>

namespace cuszi::app {

/// Sets how many threads OpenMP uses: `wanted`, else what its own variables say, else one a
/// processor; but no more than the system lets run.
void set_threads(std::optional<int> wanted);

}  // namespace cuszi::app
