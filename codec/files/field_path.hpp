#pragma once

#include <string>

namespace cuszi {

/// What a file is that holds fields.
enum class Format { raw, npy, netcdf, hdf5 };

constexpr bool is_container(Format format) {
  return format == Format::netcdf || format == Format::hdf5;
}

/// An input as a user names it: `U_100x500x500.f32`, `x.npy`, `file.nc:TEMPERATURE`,
/// `file.h5:/group/dataset`.
struct FieldPath {
  Format format = Format::raw;
  std::string file;
  std::string variable;  ///< of a container; empty if none is named

  bool holds_variables() const { return is_container(format); }
};

/// The format that a file's ending stands for: .npy; .nc, .nc4 and .cdf; .h5, .hdf5 and .he5. Any
/// other one is raw.
Format format_in_name(const std::string& file);

/// Takes a name apart. A file that has this very name is meant as a whole. Throws UsageError for a
/// Zarr store, with what reads it.
FieldPath field_path(const std::string& name);

/// What an archive of this input is called if the user does not say: U_5x5.f32.cuszi,
/// file.TEMPERATURE.cuszi.
std::string archive_name(const FieldPath& path);

}  // namespace cuszi
