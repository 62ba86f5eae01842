#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codec/files/container.hpp"

namespace cuszi::netcdf {

/// A file that is open, and what to call it.
struct Source {
  int id;
  std::string name;
};

/// A file that exists, and what to call it.
struct Target {
  std::string path;
  std::string name;
};

/// Makes `to` a copy in NetCDF-4 of a classic file. Throws InputError and OutputError.
void copy_classic(const Source& from, const Target& to,
                  const std::vector<FilteredVariable>& filtered, const CopyLook& look);

}  // namespace cuszi::netcdf
