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

/// A field that is open, and what its file says of it.
struct InputField {
  FieldSource source;
  FillValues fills;            ///< values that the file says mean missing
  bool describes_itself;       ///< dims and type come from the file
  bool is_whole;               ///< the file holds nothing else, and no shape that dims do not tell
  ByteCount bytes_behind = 0;  ///< that follow the field in a file that says where it ends
};

/// Opens a field by the name that a user gives it (field_path.hpp) and plans its frames, of about
/// `frame_bytes` if given. Dims and type of a file that tells them are not the user's to say,
/// unless with bytes to skip, which makes any file a raw one. Axes beyond four are merged, the
/// slowest first, and an array of NumPy in Fortran order is read into C order. A container without
/// a variable's name stands for its only one of f32 or f64 that is no coordinate. Throws
/// UsageError, InputError, or DeviceError where a container's library is missing.
InputField open_input(const std::string& name, const FieldOptions& options,
                      std::optional<ByteCount> frame_bytes = {});

/// A variable of f32 or f64 of an open container as a field; `name` is what to call it. Throws
/// InputError if it has no values.
InputField open_variable(const std::string& name, std::shared_ptr<Container> container,
                         const Variable& variable);

/// Opens what is to be compared with a field of this layout, in the same frames. A raw file is
/// taken to be laid out so, but often lacks what is in front of and behind the values. Throws as
/// open_input() does, InputError too for a file whose dims or type are others.
FieldSource open_alike(const std::string& name, const FieldLayout& layout, const FieldCuts& plan);

/// The fields that a file holds, by the names that open_input() takes: for a container each
/// variable of f32 or f64 that has values and is no coordinate, else the file itself. A container
/// that cannot be read stands for itself, so that opening it reports why.
std::vector<std::string> fields_in(const std::string& file);

/// The file that a name stands for.
std::string file_of(const std::string& name);

/// The fill values of `fills`, then those of `more` that `fills` lacks. Throws UsageError if they
/// are too many.
FillValues joined(FillValues fills, const FillValues& more);

}  // namespace cuszi
