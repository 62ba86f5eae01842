#pragma once

#include "bindings/containers/hdf5_references.hpp"

namespace cuszi::hdf5 {

/// Gives the object `to` of another file the attributes of `from`, in their order, and its comment.
/// What they refer to is left to translate_attributes().
void copy_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

/// Makes the references in attributes of `to` those of its file. Both have the same attributes.
void translate_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

}  // namespace cuszi::hdf5
