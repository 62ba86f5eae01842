#pragma once

#include <string>

#include "core/base/units.hpp"

namespace cuszi {

enum class Format { raw, npy, netcdf, hdf5 };

constexpr bool is_container(Format format) {
  return format == Format::netcdf || format == Format::hdf5;
}

/// `U_100x500x500.f32`, `file.nc:TEMPERATURE`, `file.h5:/group/dataset`.
struct FieldPath {
  Format format = Format::raw;
  std::string file;
  std::string variable;  ///< empty if not given

  bool holds_variables() const { return is_container(format); }
};

/// By the ending, case-insensitive: .npy; .nc, .nc4, .cdf, .netcdf; .h5, .hdf5, .he5, .hdf, .nxs,
/// .mat. Else raw.
Format format_in_name(const std::string& file);

/// Format by the first 8 or more bytes; NetCDF-4 counts as HDF5.
Format format_in_bytes(Bytes start);

/// Format of a file; HDF5 may start at 512, 1024, 2048 or 4096. Raw if unreadable.
Format format_in_bytes(const std::string& file);

/// Splits a name; an existing file of that name takes precedence, content over ending. Throws
/// UsageError for a Zarr store.
FieldPath field_path(const std::string& name);

/// Default name of an archive: U_5x5.f32.cuszi, file.TEMPERATURE.cuszi.
std::string archive_name(const FieldPath& path);

}  // namespace cuszi
