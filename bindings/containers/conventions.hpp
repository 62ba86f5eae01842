#pragma once

#include <set>
#include <string>
#include <vector>

#include "codec/files/container.hpp"

namespace cuszi {

/// The attributes of a variable, whichever library reads them.
class Attributes {
 public:
  Attributes() = default;
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  virtual ~Attributes() = default;

  /// The text of an attribute, several with spaces between them; empty if it has none.
  virtual std::string text(const char* name) const = 0;

  /// The numbers of an attribute; empty if it has none.
  virtual std::vector<double> numbers(const char* name) const = 0;
};

/// Adds what the conventions of NetCDF, CF and UGRID say of a variable by its attributes: values
/// that mean missing, limits of valid values, and whether the variable is auxiliary.
void apply_conventions(const Attributes& attributes, Variable& variable);

/// Adds the names of the auxiliary variables that a variable's attributes refer to: coordinates and
/// their bounds, terms of vertical coordinates, measures of cells, nodes of meshes.
void add_auxiliary_names(const Attributes& attributes, std::set<std::string>& names);

/// Makes auxiliary the variables of these names.
void mark_auxiliary(const std::set<std::string>& names, std::vector<Variable>& variables);

}  // namespace cuszi
