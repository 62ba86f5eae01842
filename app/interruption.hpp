#pragma once

namespace cuszi::app {

/// Lets an interrupted process remove its unfinished file before it ends as it would have, and one
/// whose mapped input cannot be read any more end with an input error. For the whole process.
void handle_interruptions();

/// The path to remove, which must stay valid; none (nullptr) when the file is finished or gone.
void set_unfinished(const char* path);

}  // namespace cuszi::app
