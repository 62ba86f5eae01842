#pragma once

#include <string>

#include "core/base/units.hpp"

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

/// The format that a file's ending stands for, in either case: .npy; .nc, .nc4, .cdf and .netcdf;
/// .h5, .hdf5, .he5, .hdf, .nxs and .mat. Any other one is raw.
Format format_in_name(const std::string& file);

/// What the first bytes of a file, 8 or more, say it is: an array of NumPy, classic NetCDF, or
/// HDF5, which is NetCDF-4 too. Raw if they say nothing.
Format format_in_bytes(Bytes start);

/// The same of a file by its name; HDF5 may stand behind 512 other bytes or a multiple of them by a
/// power of two. Raw if the file cannot be read.
Format format_in_bytes(const std::string& file);

/// Takes a name apart. A file that has this very name is meant as a whole. What a file is, its
/// first bytes say; its ending, where they say nothing. Throws UsageError for a Zarr store, with
/// what reads it.
FieldPath field_path(const std::string& name);

/// What an archive of this input is called if the user does not say: U_5x5.f32.cuszi,
/// file.TEMPERATURE.cuszi.
std::string archive_name(const FieldPath& path);

}  // namespace cuszi
