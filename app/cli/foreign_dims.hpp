#pragma once

#include "app/cli/command_words.hpp"
#include "core/base/dims.hpp"

namespace cuszi::app {

/// Dims with the extents in the opposite order.
Dims reversed(const Dims& dims);

/// Throws UsageError if a command line gives dims as SZ (`-3 500 500 100`) or cuSZ (`-l
/// 500x500x100`) take them, the fastest first: tells the command that was meant.
void refuse_foreign_dims(const Words& words);

}  // namespace cuszi::app
