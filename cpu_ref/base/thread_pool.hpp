#pragma once

#include <functional>

namespace cuszi::cpu {

/// Calls `part` in this thread and in up to `others` threads of the process's pool at a time, those
/// that are free, and returns when all calls have. `part` must not throw, and not wait for another
/// call of it: there may be none. Threads are started when they are wanted first, fewer if the
/// system has no more, and sleep in between. A forked child starts its own.
void run_in_threads(int others, const std::function<void()>& part);

}  // namespace cuszi::cpu
