#pragma once

#include <string>

namespace cuszi::app {

/// Tool, format, libraries and device, in a few lines.
std::string version_text();

}  // namespace cuszi::app
