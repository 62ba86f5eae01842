#pragma once

#include <functional>

namespace cuszi::cpu {

/// Calls `part` in this thread and in up to `others` free threads, and waits for all. `part` must
/// not throw, nor wait for another call of it.
void run_in_threads(int others, const std::function<void()>& part);

}  // namespace cuszi::cpu
