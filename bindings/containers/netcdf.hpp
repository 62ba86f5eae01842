#pragma once

#include <string>
#include <vector>

#include "bindings/containers/conventions.hpp"
#include "codec/files/container.hpp"

namespace cuszi::netcdf {

/// Includes HDF5's reason.
std::string reason_of(int status);

/// Throws InputError.
void check(int status, const std::string& subject);

/// `prefix` precedes the name. Does not detect coordinates.
Variable describe(int group, int id, const std::string& prefix);

class VariableAttributes final : public Attributes {
 public:
  VariableAttributes(int group, int variable) : group_(group), variable_(variable) {}

  std::string text(const char* name) const override;
  std::vector<double> numbers(const char* name) const override;

 private:
  int group_;
  int variable_;
};

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
