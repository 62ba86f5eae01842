#pragma once

#include <cuszi/cuszi.h>

#include <map>
#include <string>
#include <vector>

namespace cuszi::adios {

struct BlockSettings {
  cuszi_options choices = cuszi_default_options();  ///< without fill values
  std::vector<double> fills;
  bool has_bound = false;     ///< or a target; readers need none
  bool column_major = false;  ///< extents are fastest first

  /// Valid as long as this object.
  cuszi_options options() const;
};

/// Parses parameters; ignores ADIOS2's own. Throws std::invalid_argument.
BlockSettings read_settings(const std::map<std::string, std::string>& parameters);

}  // namespace cuszi::adios
