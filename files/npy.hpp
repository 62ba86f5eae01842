#pragma once

#include "codec/byte_source.hpp"
#include "codec/field_name.hpp"

namespace cuszi {

/// The layout of the array in a file of NumPy (.npy, versions 1 to 3 of its format). An array in
/// Fortran order has its last axis slowest: its dims are reversed. Throws InputError if the file is
/// none, is cut short, or holds anything but f32 or f64 in 1 to 4 dimensions.
FieldLayout npy_layout(const FileSource& file);

}  // namespace cuszi
