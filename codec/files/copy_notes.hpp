#pragma once

#include <string>
#include <variant>
#include <vector>

namespace cuszi {

/// Replaces an attribute of the same name. Without a value, the attribute is removed.
struct NotedAttribute {
  std::string name;
  std::variant<std::monostate, std::string, std::vector<double>> value = {};
};

struct NotedVariable {
  std::string name;  ///< as in Variable
  std::vector<NotedAttribute> attributes;
};

/// Provenance of a copy.
struct CopyNotes {
  std::vector<NotedVariable> variables;
  std::string history;  ///< a line for the global attribute, or empty
};

/// Adds attributes to the HDF5 or NetCDF-4 file `path` (`name` in messages). Throws OutputError, or
/// DeviceError without the module.
void write_notes(const std::string& path, const std::string& name, const CopyNotes& notes);

/// The function of HDF5's module.
using WriteNotes = void(const std::string& path, const std::string& name, const CopyNotes& notes);
inline constexpr const char* write_notes_symbol = "cuszi_write_notes";

}  // namespace cuszi
