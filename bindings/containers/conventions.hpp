#pragma once

#include <set>
#include <string>
#include <vector>

#include "codec/files/container.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi {

class Attributes : public Interface {
 public:
  /// Separated by spaces; empty if absent.
  virtual std::string text(const char* name) const = 0;

  /// Empty if absent.
  virtual std::vector<double> numbers(const char* name) const = 0;
};

/// Applies NetCDF, CF and UGRID conventions: fill values, limits, auxiliary variables.
void apply_conventions(const Attributes& attributes, Variable& variable);

/// Adds variables that attributes refer to: coordinates, bounds, terms of vertical coordinates,
/// cell measures, mesh nodes.
void add_auxiliary_names(const Attributes& attributes, std::set<std::string>& names);

void mark_auxiliary(const std::set<std::string>& names, std::vector<Variable>& variables);

}  // namespace cuszi
