#pragma once

#include "app/cli/command_words.hpp"

namespace cuszi::app {

/// Throws UsageError with the corrected command for bounds in other compressors' syntax: -rel 1e-3,
/// -M REL 1e-3, -A 0.1, -psnr 80.
void refuse_foreign_bounds(const Words& words);

}  // namespace cuszi::app
