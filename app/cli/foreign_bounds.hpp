#pragma once

#include "app/cli/command_words.hpp"

namespace cuszi::app {

/// Throws UsageError, with the command that was meant, if a bound or target is given as other
/// compressors take it: -rel 1e-3, --abs=0.1, -M REL 1e-3, -A 0.1, -psnr 80. The command line would
/// be read as something else, or refused without a remedy.
void refuse_foreign_bounds(const Words& words);

}  // namespace cuszi::app
