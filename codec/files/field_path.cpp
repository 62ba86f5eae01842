#include "codec/files/field_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

namespace fs = std::filesystem;

struct Ending {
  std::string_view text;
  Format format;
};

constexpr std::array<Ending, 7> endings{{{".npy", Format::npy},
                                         {".nc", Format::netcdf},
                                         {".nc4", Format::netcdf},
                                         {".cdf", Format::netcdf},
                                         {".h5", Format::hdf5},
                                         {".hdf5", Format::hdf5},
                                         {".he5", Format::hdf5}}};

bool exists(const std::string& path) {
  std::error_code unreadable;
  return fs::exists(path, unreadable);
}

/// store.zarr, store.zarr/T and store.zarr:T.
void refuse_zarr(const std::string& name) {
  constexpr std::string_view ending = ".zarr";
  const std::size_t at = name.find(ending);
  if (at == std::string::npos) return;
  const std::size_t end = at + ending.size();
  if (end < name.size() && name[end] != '/' && name[end] != ':') return;
  std::string array = name;
  std::replace(array.begin() + static_cast<std::ptrdiff_t>(end), array.end(), ':', '/');
  throw UsageError(fmt::format(
      "{}: Zarr stores are read by the Python package: python3 -c \"import cuszi, zarr; "
      "open('out.cuszi', 'wb').write(cuszi.compress(zarr.open_array('{}')[...], rel=1e-3))\"",
      name, array));
}

}  // namespace

Format format_in_name(const std::string& file) {
  const auto* const found = std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) {
    return file.size() > ending.text.size() && file.ends_with(ending.text);
  });
  return found == endings.end() ? Format::raw : found->format;
}

FieldPath field_path(const std::string& name) {
  if (is_standard_stream(name)) return {Format::raw, name, {}};
  if (exists(name) && !fs::is_directory(name)) return {format_in_name(name), name, {}};
  for (std::size_t at = name.find(':'); at != std::string::npos; at = name.find(':', at + 1)) {
    FieldPath path{format_in_name(name.substr(0, at)), name.substr(0, at), name.substr(at + 1)};
    if (path.holds_variables()) return path;
  }
  refuse_zarr(name);
  return {format_in_name(name), name, {}};
}

std::string archive_name(const FieldPath& path) {
  if (path.variable.empty()) return path.file + ".cuszi";
  std::string variable = path.variable.substr(path.variable.front() == '/' ? 1 : 0);
  std::replace(variable.begin(), variable.end(), '/', '.');
  return fs::path(path.file).replace_extension(variable + ".cuszi");
}

}  // namespace cuszi
