#pragma once

#include "app/cli/exit_code.hpp"
#include "app/cli/options.hpp"

namespace cuszi::app {

/// Writes the copy of a file of NetCDF or HDF5, in which the variables of f32 and f64 are
/// compressed by the HDF5 filter. Coordinates are kept as they are unless they have a bound of
/// their own, and so is what has no values or has them in other files. Reports as execute() does.
ExitCode copy_file(const CompressOptions& options);

}  // namespace cuszi::app
