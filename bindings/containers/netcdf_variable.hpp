#pragma once

#include <string>

#include "codec/files/container.hpp"

namespace cuszi::netcdf {

/// Throws InputError: `subject` and what the status means, unless it is NC_NOERR.
void check(int status, const std::string& subject);

/// Describes a variable of a group, with `prefix` in front of its name; whether other variables
/// name it as their coordinate is left open.
Variable describe(int group, int id, const std::string& prefix);

/// The text of an attribute; empty if there is none.
std::string text_attribute(int group, int variable, const char* name);

}  // namespace cuszi::netcdf
