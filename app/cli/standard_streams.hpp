#pragma once

#include <string_view>

namespace cuszi::app {

/// Opens those of the standard streams that are closed on /dev/null, so that no file gets their
/// numbers; the wrong way round, so that what reads or writes data there fails. For the whole
/// process, before anything else is opened.
void open_standard_streams();

/// Writes all of `text` to standard output. Throws OutputError, but for a standard output that was
/// closed on purpose.
void print_out(std::string_view text);

/// Writes `text` to standard error as far as that can be.
void print_error(std::string_view text) noexcept;

}  // namespace cuszi::app
