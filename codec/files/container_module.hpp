#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/files/container.hpp"
#include "codec/files/field_path.hpp"

namespace cuszi {

/// Opens a file. Loads the format's module, beside libcuszi, on first use. Throws InputError, or
/// DeviceError without the module.
std::unique_ptr<Container> open_container(Format format, const std::string& path);

/// Library version; nullopt without module or library.
std::optional<std::string> container_library(Format format);

}  // namespace cuszi
