#pragma once

#include <string>

#include "bindings/containers/conventions.hpp"
#include "codec/files/container.hpp"

namespace cuszi::netcdf {

/// What a status means; of a failure of HDF5, why.
std::string reason_of(int status);

/// Throws InputError: `subject` and what the status means, unless it is NC_NOERR.
void check(int status, const std::string& subject);

/// Describes a variable of a group, with `prefix` in front of its name; whether other variables
/// name it as their coordinate is left open.
Variable describe(int group, int id, const std::string& prefix);

/// The attributes of a variable of a group.
class VariableAttributes final : public Attributes {
 public:
  VariableAttributes(int group, int variable) : group_(group), variable_(variable) {}

  std::string text(const char* name) const override;
  std::vector<double> numbers(const char* name) const override;

 private:
  int group_;
  int variable_;
};

}  // namespace cuszi::netcdf
