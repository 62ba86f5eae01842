#pragma once

#include "bindings/containers/hdf5_references.hpp"

namespace cuszi::hdf5 {

/// Copies attributes, in order, and the comment; references need translate_attributes().
void copy_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

/// Redirects references to the file of `to`.
void translate_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

}  // namespace cuszi::hdf5
