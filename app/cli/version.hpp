#pragma once

#include <string>

namespace cuszi::app {

/// The versions of the tool, of the archive format and of the libraries in use, and what it
/// computes with, in a few lines.
std::string version_text();

}  // namespace cuszi::app
