#pragma once

#include "app/cli/exit_code.hpp"

namespace cuszi::app {

/// The whole program: reads the command line, does what it says, tells failures on stderr. Returns
/// what the process is to end with; does not throw.
ExitCode run(int argc, const char* const* argv) noexcept;

}  // namespace cuszi::app
