#pragma once

#include <string>

#include "bindings/containers/hdf5_handle.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

/// Describes a dataset; whether other datasets name it as their coordinate is left open.
Variable describe(hid_t dataset, const std::string& name);

/// The text of a string attribute; empty if there is none.
std::string text_attribute(hid_t object, const char* name);

}  // namespace cuszi::hdf5
