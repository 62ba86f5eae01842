#pragma once

namespace cuszi::app {

/// Lets a process that a signal or a call of exit() ends remove its unfinished file first. A file
/// that grows beyond the limit of its size is an error of its writer instead. For the whole
/// process.
void handle_interruptions();

/// The path to remove, which must stay valid; none (nullptr) when the file is finished or gone.
void set_unfinished(const char* path);

}  // namespace cuszi::app
