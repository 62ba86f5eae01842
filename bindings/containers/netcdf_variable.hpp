#pragma once

#include <string>

#include "codec/files/container.hpp"

namespace cuszi::netcdf {

/// Throws InputError: `subject` and what the status means, unless it is NC_NOERR.
void check(int status, const std::string& subject);

/// What there is to know of a variable of a group, but whether others name it as their coordinate.
/// `prefix` is put in front of its name.
Variable describe(int group, int id, const std::string& prefix);

/// The text of an attribute; empty if there is none.
std::string text_attribute(int group, int variable, const char* name);

}  // namespace cuszi::netcdf
