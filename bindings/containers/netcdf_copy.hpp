#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codec/files/container.hpp"

namespace cuszi::netcdf {

struct Source {
  int id;
  std::string name;
};

struct Target {
  std::string path;
  std::string name;
};

/// Copies a classic file to NetCDF-4. Throws InputError and OutputError.
void copy_classic(const Source& from, const Target& to,
                  const std::vector<FilteredVariable>& filtered, const CopyLook& look);

}  // namespace cuszi::netcdf
