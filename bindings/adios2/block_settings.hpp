/// What the parameters of an operator say.
#pragma once

#include <cuszi/cuszi.h>

#include <map>
#include <string>
#include <vector>

namespace cuszi::adios {

/// How the blocks of a variable are compressed.
struct BlockSettings {
  cuszi_options choices = cuszi_default_options();  ///< without fill values
  std::vector<double> fills;
  bool has_bound = false;     ///< or a target; readers need none
  bool column_major = false;  ///< the extents of blocks come fastest first

  /// All options of the library, valid as long as this object is.
  cuszi_options options() const;
};

/// Reads parameters: names and values as text. Those of ADIOS2 itself are passed over. Throws
/// std::invalid_argument for a name that is not known and a value that cannot be.
BlockSettings read_settings(const std::map<std::string, std::string>& parameters);

}  // namespace cuszi::adios
