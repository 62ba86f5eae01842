#pragma once

#include <string>

#include "bindings/containers/hdf5_handle.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

/// What there is to know of a dataset, but whether others name it as their coordinate.
Variable describe(hid_t dataset, const std::string& name);

/// The text of a string attribute; empty if there is none.
std::string text_attribute(hid_t object, const char* name);

}  // namespace cuszi::hdf5
