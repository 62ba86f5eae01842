#include "codec/files/field_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "codec/field/field_name.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

namespace fs = std::filesystem;

struct Ending {
  std::string_view text;
  Format format;
};

constexpr std::array<Ending, 11> endings{{{".npy", Format::npy},
                                          {".nc", Format::netcdf},
                                          {".nc4", Format::netcdf},
                                          {".cdf", Format::netcdf},
                                          {".netcdf", Format::netcdf},
                                          {".h5", Format::hdf5},
                                          {".hdf5", Format::hdf5},
                                          {".he5", Format::hdf5},
                                          {".hdf", Format::hdf5},
                                          {".nxs", Format::hdf5},
                                          {".mat", Format::hdf5}}};

const Ending* ending_of(std::string_view file) {
  const auto* const found = std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) {
    return ends_with(file, ending.text);
  });
  return found == endings.end() ? nullptr : found;
}

// The user block of an HDF5 file has a power of two of bytes; MATLAB's has 512. To look for larger
// ones would take a read each, all over the file: such a file is known by its name alone.
constexpr ByteCount first_user_block = 512;
constexpr ByteCount most_user_block = 4096;

/// Content decides before the name, but only the name separates NetCDF-4 from HDF5.
Format format_of(const std::string& file) {
  const Format named = format_in_name(file);
  const Format found = format_in_bytes(file);
  const bool is_netcdf4 = found == Format::hdf5 && named == Format::netcdf;
  return found == Format::raw || is_netcdf4 ? named : found;
}

/// store.zarr, store.zarr/T, store.zarr:T.
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

Format format_in_bytes(Bytes start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  if (text.starts_with("\x89HDF\r\n\x1a\n")) return Format::hdf5;
  constexpr std::string_view classic[] = {"CDF\1", "CDF\2", "CDF\5"};
  const bool is_classic =
      std::any_of(std::begin(classic), std::end(classic),
                  [&](std::string_view each) { return text.starts_with(each); });
  return is_classic ? Format::netcdf : Format::raw;
}

Format format_in_bytes(const std::string& file) try {
  std::error_code unreadable;
  if (!fs::is_regular_file(file, unreadable)) return Format::raw;
  std::array<std::byte, most_user_block + 8> memory{};
  const Bytes start = Bytes(memory).first(FileSource(file).read_at(0, memory));
  const Format found = format_in_bytes(start);
  if (found != Format::raw) return found;
  for (ByteCount at = first_user_block; at < start.size(); at *= 2)
    if (format_in_bytes(start.subspan(at)) == Format::hdf5) return Format::hdf5;
  return Format::raw;
} catch (const InputError&) {
  return Format::raw;
}

Format format_in_name(const std::string& file) {
  const Ending* const ending = ending_of(file);
  return ending == nullptr ? Format::raw : ending->format;
}

FieldPath field_path(const std::string& name) {
  if (is_standard_stream(name)) return {Format::raw, name, {}};
  std::error_code unreadable;
  const fs::file_status status = fs::status(name, unreadable);
  if (fs::exists(status) && !fs::is_directory(status)) return {format_of(name), name, {}};
  for (std::size_t at = name.find(':'); at != std::string::npos; at = name.find(':', at + 1)) {
    const std::string file = name.substr(0, at);
    FieldPath path{format_of(file), file, name.substr(at + 1)};
    if (path.holds_variables()) return path;
  }
  refuse_zarr(name);
  return {format_in_name(name), name, {}};
}

std::string archive_name(const FieldPath& path) {
  if (path.variable.empty()) return path.file + ".cuszi";
  std::string variable = path.variable.substr(path.variable.front() == '/' ? 1 : 0);
  std::replace(variable.begin(), variable.end(), '/', '.');
  std::string_view stem = path.file;
  if (const Ending* const ending = ending_of(stem)) stem.remove_suffix(ending->text.size());
  return fmt::format("{}.{}.cuszi", stem, variable);
}

}  // namespace cuszi
