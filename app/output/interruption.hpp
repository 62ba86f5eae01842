#pragma once

namespace cuszi::app {

/// Removes the unfinished file on fatal signals and exit(). Exceeding the file size limit becomes a
/// write error. For the whole process.
void handle_interruptions();

/// `path` must stay valid; null: nothing to remove.
void set_unfinished(const char* path);

}  // namespace cuszi::app
