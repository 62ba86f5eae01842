#pragma once

#include <string_view>

namespace cuszi::app {

/// Opens closed standard streams on /dev/null, so that no file gets their numbers, in the wrong
/// direction, so that using them fails. Call first.
void open_standard_streams();

/// Throws OutputError, except for a closed stdout.
void print_out(std::string_view text);

/// Ignores failures.
void print_error(std::string_view text) noexcept;

}  // namespace cuszi::app
