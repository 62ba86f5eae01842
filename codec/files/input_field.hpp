#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/field/field_source.hpp"
#include "codec/files/container.hpp"
#include "codec/files/field_path.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

struct InputField {
  FieldSource source;
  FillValues fills;            ///< from the file's metadata
  bool describes_itself;       ///< dims and type
  bool is_whole;               ///< nothing else, of this shape
  ByteCount bytes_behind = 0;  ///< after the field, if known
};

/// Opens a field by its name (see field_path.hpp), with frames of about `frame_bytes`.
/// Self-describing files give dims and type, unless bytes to skip make them raw. Leading axes
/// beyond four are merged, Fortran order is transposed. Without a variable name, a container's only
/// f32 or f64 variable that is no coordinate. Throws UsageError, InputError, or DeviceError without
/// the container's library.
InputField open_input(const std::string& name, const FieldOptions& options,
                      std::optional<ByteCount> frame_bytes = {});

/// Opens a variable; `name` is for messages. Throws InputError if it is empty.
InputField open_variable(const std::string& name, std::shared_ptr<Container> container,
                         const Variable& variable);

/// Opens a field to compare, in the same frames. A raw file may lack the surrounding bytes. Throws
/// as open_input(), also InputError if dims or type differ.
FieldSource open_alike(const std::string& name, const FieldLayout& layout, const FieldCuts& plan);

/// Names for open_input(): each non-empty f32 or f64 variable that is no coordinate, else the file
/// itself. An unreadable container stands for itself, so that opening it reports the error.
std::vector<std::string> fields_in(const std::string& file);

std::string file_of(const std::string& name);

}  // namespace cuszi
