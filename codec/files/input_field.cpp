#include "codec/files/input_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "codec/files/container.hpp"
#include "codec/files/npy.hpp"
#include "codec/files/variable_source.hpp"
#include "core/base/error.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

void refuse_layout(const std::string& name, const FieldOptions& options) {
  const char* const said = options.dims                           ? "--dims"
                           : options.dtype                        ? "--type"
                           : options.byte_order == ByteOrder::big ? "--byte-order"
                                                                  : nullptr;
  if (said == nullptr) return;
  throw UsageError(
      fmt::format("{}: the file format gives dims, type and byte order; leave out {}, or add "
                  "--skip-bytes to read it as raw",
                  name, said));
}

struct FoundField {
  std::unique_ptr<ByteSource> source;
  FieldLayout layout;
  FillValues fills;
  bool is_whole = false;
  ByteCount bytes_behind = 0;
};

InputField field_in_frames(FoundField found, std::optional<ByteCount> frame_bytes) {
  const FieldCuts plan = plan_frames(found.layout.dims, found.layout.dtype, frame_bytes);
  return {{std::move(found.source), found.layout, plan},
          found.fills,
          true,
          found.is_whole,
          found.bytes_behind};
}

/// Merges leading axes beyond four.
Dims dims_of(const std::string& name, std::vector<std::uint64_t> extents) {
  const std::string text = fmt::format("{}", fmt::join(extents, "x"));
  if (extents.size() > static_cast<std::size_t>(Dims::max_rank)) std::erase(extents, 1);
  while (extents.size() > static_cast<std::size_t>(Dims::max_rank)) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const bool fits = extents[0] == 0 || extents[1] <= most / extents[0];
    extents[1] = fits ? extents[0] * extents[1] : most;
    extents.erase(extents.begin());
  }
  if (extents.empty()) extents.push_back(1);
  const auto dims = Dims::make(extents);
  if (!dims) {
    throw InputError(fmt::format("{}: has extents {}, which are empty or too large", name, text));
  }
  return *dims;
}

/// One non-trivial axis is always in C order.
bool is_in_c_order(const NpyArray& array) {
  return !array.is_fortran || std::count_if(array.shape.begin(), array.shape.end(),
                                            [](std::uint64_t extent) { return extent > 1; }) <= 1;
}

FoundField find_npy(const std::string& name) {
  auto file = std::make_unique<FileSource>(name);
  NpyArray array = npy_array(*file);
  FoundField found;
  found.layout.dtype = array.dtype;
  found.layout.byte_order = array.byte_order;
  found.layout.dims = dims_of(name, array.shape);
  found.bytes_behind = array.bytes_behind;
  found.is_whole =
      array.bytes_behind == 0 && std::ranges::equal(found.layout.dims.extents(), array.shape);
  if (is_in_c_order(array)) {
    found.layout.skip_bytes = array.header_bytes;
    found.layout.may_go_on = true;
    found.source = std::move(file);
  } else {
    found.source = std::make_unique<FortranSource>(std::move(file), std::move(array));
  }
  return found;
}

bool is_field(const Variable& variable) { return variable.is_compressed_unasked(); }

std::string float_variables(const std::vector<Variable>& variables) {
  std::string names;
  for (const Variable& variable : variables) {
    const bool is_float = variable.dtype && !is_integer(*variable.dtype);
    if (is_float) names += (names.empty() ? "" : ", ") + variable.name;
  }
  return names.empty() ? "it has no f32 or f64 variable" : "its f32 and f64 variables are " + names;
}

Variable chosen_variable(const FieldPath& path, Container& container) {
  if (!path.variable.empty()) {
    if (auto variable = container.find(path.variable)) return *variable;
    throw InputError(fmt::format("{}:{}: no such variable; {}", path.file, path.variable,
                                 float_variables(container.variables())));
  }
  const std::vector<Variable> variables = container.variables();
  const auto field = std::find_if(variables.begin(), variables.end(), is_field);
  if (std::count_if(variables.begin(), variables.end(), is_field) == 1) return *field;
  throw UsageError(fmt::format("{}: {}; name one, like {}:{}", path.file,
                               float_variables(variables), path.file,
                               field == variables.end() ? "NAME" : field->name));
}

void require_readable(const std::string& name, const Variable& variable) {
  if (variable.dtype && !variable.lacking_filter.empty()) {
    throw InputError(
        fmt::format("{}: its HDF5 filter {} is not available; add its folder to HDF5_PLUGIN_PATH",
                    name, variable.lacking_filter));
  }
  if (variable.dtype) return;
  throw InputError(fmt::format("{}: contains {}, not floats or integers", name, variable.type));
}

/// An archive has no place for what unpacks the values.
void refuse_packed(const std::string& name, const Variable& variable) {
  if (!variable.is_packed) return;
  throw InputError(
      fmt::format("{}: {} packed with scale_factor or add_offset; copy the file with --bound {}=, "
                  "in unpacked units, or unpack it first, like with ncpdq -U",
                  name, variable.type, variable.name));
}

/// Fills that occur in `source`.
std::vector<double> present(const std::vector<double>& fills, DType dtype,
                            const ByteSource& source) {
  constexpr ByteCount bytes_at_once = 1 << 23;
  std::map<double, bool> is_there;
  for (const double fill : fills) is_there[nearest_stored(dtype, fill)] = false;
  std::vector<std::byte> bytes(bytes_at_once);
  ByteCount at = 0;
  while (const std::size_t got = source.read_at(at, bytes)) {
    at += got;
    with_work_values(dtype, Bytes(bytes).first(got), [&](auto values) {
      for (const auto value : values) {
        const auto found = is_there.find(double{value});
        if (found != is_there.end() && found->first == double{value}) found->second = true;
      }
    });
  }
  std::vector<double> found;
  for (const double fill : fills) {
    const auto entry = is_there.find(nearest_stored(dtype, fill));
    if (entry->second) found.push_back(fill);
    entry->second = false;  // equal as stored
  }
  return found;
}

/// If an archive cannot hold all, only those that occur.
FillValues fills_of(const std::string& name, const Variable& variable, const ByteSource& source) {
  std::vector<double> wanted = variable.fills;
  if (wanted.size() > FillValues::max_count) {
    wanted = present(wanted, *variable.dtype, source);
  }
  if (wanted.size() > FillValues::max_count) {
    throw InputError(
        fmt::format("{}: its points have {} different fill values (_FillValue, missing_value); at "
                    "most {} are supported",
                    name, wanted.size(), FillValues::max_count));
  }
  FillValues fills;
  for (const double fill : wanted) fills.add(fill);
  return fills;
}

FoundField field_of(const std::string& name, std::shared_ptr<Container> container,
                    const Variable& variable, std::unique_ptr<FileSource> file) {
  require_readable(name, variable);
  FoundField found;
  found.layout.dtype = *variable.dtype;
  found.layout.dims = dims_of(name, variable.extents);
  found.source =
      std::make_unique<VariableSource>(name, std::move(container), variable, std::move(file));
  found.fills = fills_of(name, variable, *found.source);
  return found;
}

FoundField find_variable(const std::string& name, const FieldPath& path) {
  auto file = std::make_unique<FileSource>(path.file);
  std::shared_ptr<Container> container = open_container(path.format, path.file);
  const Variable variable = chosen_variable(path, *container);
  refuse_packed(name, variable);
  return field_of(name, std::move(container), variable, std::move(file));
}

FoundField find_field(const std::string& name, const FieldPath& path) {
  return path.format == Format::npy ? find_npy(name) : find_variable(name, path);
}

}  // namespace

InputField open_input(const std::string& name, const FieldOptions& options,
                      std::optional<ByteCount> frame_bytes) {
  const FieldPath path = field_path(name);
  if (path.format == Format::raw || options.skip_bytes) {
    return {open_field(path.file, options, frame_bytes), {}, false, !options.skip_bytes, 0};
  }
  refuse_layout(name, options);
  return field_in_frames(find_field(name, path), frame_bytes);
}

InputField open_variable(const std::string& name, std::shared_ptr<Container> container,
                         const Variable& variable) {
  return field_in_frames(field_of(name, std::move(container), variable, nullptr), {});
}

FieldSource open_alike(const std::string& name, const FieldLayout& layout, const FieldCuts& plan) {
  const FieldPath path = field_path(name);
  if (path.format == Format::raw) {
    auto file = std::make_unique<FileSource>(name);
    FieldLayout own = layout;
    if (file->size() == layout.field_bytes()) own.skip_bytes = 0;
    return {std::move(file), own, plan};
  }
  FoundField found = find_field(name, path);
  if (found.layout.dims == layout.dims && found.layout.dtype == layout.dtype) {
    return {std::move(found.source), found.layout, plan};
  }
  throw InputError(fmt::format("{}: cannot be compared: it is {} of {}, not {} of {}", name,
                               found.layout.dims.to_string(), name_of(found.layout.dtype),
                               layout.dims.to_string(), name_of(layout.dtype)));
}

std::vector<std::string> fields_in(const std::string& file) {
  const FieldPath path = field_path(file);
  if (!path.holds_variables()) return {file};
  std::vector<std::string> names;
  try {
    for (const Variable& variable : open_container(path.format, path.file)->variables()) {
      if (is_field(variable) && variable.values() != 0) names.push_back(file + ':' + variable.name);
    }
  } catch (const Error&) {
    return {file};
  }
  return names;
}

std::string file_of(const std::string& name) { return field_path(name).file; }

}  // namespace cuszi
