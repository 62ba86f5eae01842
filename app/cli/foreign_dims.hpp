#pragma once

#include "app/cli/command_words.hpp"
#include "core/base/dims.hpp"

namespace cuszi::app {

Dims reversed(const Dims& dims);

/// Throws UsageError with the corrected command for dims of SZ (`-3 500 500 100`) or cuSZ (`-l
/// 500x500x100`), fastest first.
void refuse_foreign_dims(const Words& words);

}  // namespace cuszi::app
