#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/files/container.hpp"
#include "codec/files/field_path.hpp"

namespace cuszi {

/// Opens a container, Format::netcdf or Format::hdf5. The first call for a format loads the module
/// with its library, which is large, beside libcuszi. Throws InputError, and DeviceError if there
/// is no such module.
std::unique_ptr<Container> open_container(Format format, const std::string& path);

/// The version of the library of a format; none if its module or the library is not there.
std::optional<std::string> container_library(Format format);

}  // namespace cuszi
